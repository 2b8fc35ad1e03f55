# Everything a fresh machine with Python 3.11, pip and make needs: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo demo-paper test test-slow docs bench reproduce lint browser clean

demo: $(INSTALLED)  ## the main job, start to end: rule and cost from twelve demonstrations
	rm -rf runs/demo
	$(BIN)/wfairl run coffee-and-mail --successes 12 --failures 0 -o runs/demo

demo-paper: $(INSTALLED)  ## the paper's own way on its first task: a spectral automaton from successes and failures
	rm -rf runs/demo-paper
	$(BIN)/wfairl run doorkey --learner spectral -o runs/demo-paper

test: lint browser  ## what must hold before anything lands: style, types, rooms, fast tests
	$(BIN)/pytest -n 2 --dist worksteal

test-slow: lint browser  ## also what takes minutes
	$(BIN)/pytest -n 2 --dist worksteal -m "slow or not slow" --hypothesis-profile thorough

docs: $(INSTALLED)  ## the documentation site, in site/: pages, gallery and API reference; it opens from disk
	$(BIN)/mkdocs build --strict --quiet

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

browser:  ## for the tests of pages, which are skipped where there is none and none can be installed
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
		{ apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1 || \
		echo "no chromium, and none could be installed: the tests of pages in a browser are skipped"

BENCHMARKS := world_model graph_world vector_environment shortest_path focused training rational_growth roadmap_growth \
	spectral_fit gail

bench: $(INSTALLED)  ## speed and growth, a table each; load, cluster and studio are run by themselves
	for name in $(BENCHMARKS); do $(BIN)/python benchmarks/$$name.py || exit 1; done

reproduce: $(INSTALLED)  ## the paper's tables and figures, in an hour and a half (resumes where it was stopped)
	$(BIN)/python -m experiments -o runs/paper

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps hoa-utils || true  # its pins are of 2020
	touch $@

clean:
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache .hypothesis
