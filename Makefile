PYTHON ?= python3
VENV ?= .venv
RUN ?= runs/$(shell date +%Y%m%d-%H%M%S)
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help train test faults clean

help:  ## list these targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

train: $(VENV)/installed  ## install, then train, measure and plot a 2048 player: some three minutes
	$(BIN)/afterstate train 2048 --recipe quick --run $(RUN)
	$(BIN)/afterstate eval $(RUN) --games 1000 --seed 2
	@echo
	@echo "the model   $(RUN)/checkpoints/best.safetensors"
	@echo "its curve   $(RUN)/report/curve.png"
	@echo "ask it      $(BIN)/afterstate move $(RUN) '2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2'"
	@echo "play it     $(BIN)/afterstate play $(RUN)"

test: $(VENV)/installed-dev $(VENV)/browser  ## install what the tests need, then lint, check types and rooms, and run all tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest --numprocesses 2 --dist loadgroup --no-loadscope-reorder

faults: $(VENV)/installed-dev $(VENV)/browser  ## the long version of the tests of faults: kills, full disks, bad files, load
	$(BIN)/pytest tests/faults --long --capture no

$(VENV)/browser: $(VENV)/installed-dev  # Chromium and Node from the system's packages, where we may install them
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -qq -y chromium >/dev/null; } \
	  || echo "no Chromium: the tests of the page will be skipped, or fail where CI is set"
	@command -v node >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -qq -y nodejs >/dev/null; } \
	  || echo "no Node: the tests of the page's modules will be skipped, or fail where CI is set"
	@touch $@

clean:  ## remove the virtual environment
	rm -rf $(VENV)

$(VENV)/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable .
	@touch $@

$(VENV)/installed-dev: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@
