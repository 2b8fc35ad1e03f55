"""Settings of hypothesis for all tests: machines are shared and kernels compile, so no test has a deadline."""

from hypothesis import settings

settings.register_profile("wfairl", deadline=None)
settings.load_profile("wfairl")
