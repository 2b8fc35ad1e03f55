"""What the paper's method is compared with: behavioural cloning (`bc`) and GAIL (`gail`).

Importing this room registers them: `wfairl --tasks experiments.baselines train DEMOS --method bc -o RUN`.
"""

from experiments.baselines import methods as methods
