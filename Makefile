# Each target does its own set-up: a fresh machine needs Python 3.11+, git and make, nothing else.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

.PHONY: demo test test-all lint browser format bench fuzz crash docs release-check lock clean

# Two stamps: `demo` needs the base install alone, so that it starts soon; everything else needs the dev extras.
# What is downloaded is what was tested, by its hash; the files list all of it, so that pip looks for nothing else.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

$(VENV)/.base: pyproject.toml requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --no-deps --require-hashes -r requirements.txt
	$(PIP) --no-build-isolation --no-deps -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.base requirements-dev.txt
	$(PIP) --no-deps --require-hashes -r requirements-dev.txt
	# For the tests of the PyTorch runtime and of replay buffers; PyTorch's builds, and so hashes, differ between machines.
	$(PIP) -c constraints.txt torch==2.13.0 stable_baselines3
	@touch $@

# Hashes of the versions in constraints.txt, for every platform; after a change of that file or of pyproject.toml.
LOCK := uv pip compile --quiet --universal --python-version 3.11.5 --generate-hashes --no-annotate -c constraints.txt
lock: $(VENV)/.base
	$(PIP) uv
	printf 'hatchling\neditables\n' | $(BIN)/$(LOCK) --custom-compile-command 'make lock' pyproject.toml - -o requirements.txt
	printf 'hatchling\neditables\n' | $(BIN)/$(LOCK) --custom-compile-command 'make lock' pyproject.toml - --extra dev -o requirements-dev.txt

demo: $(VENV)/.base
	# Seed 3: its hundred random episodes happen to visit every cell, so that there is a truth for all of them.
	$(BIN)/minaction train cliffwalking --evaluations 10 --first-seed 3 --out demo --overwrite

# Each process keeps to neighbouring tests, which share trained models and compiled programs, until the other has none left.
test: lint browser
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" --durations=20

test-all: lint browser
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright

# The report's page is tested in a real browser: the system's, installed if need be, or else Playwright's own.
browser: $(VENV)/.dev
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null \
	  || { command -v apt-get >/dev/null && $(AS_ROOT) apt-get update -qq \
	       && $(AS_ROOT) apt-get install -qq -y --no-install-recommends chromium >/dev/null; } \
	  || $(BIN)/playwright install chromium

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev
	$(PIP) -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks.training_speed

# Mutations of every kind of file that is read, in processes with limits; COUNT=300 takes a minute or two.
COUNT ?= 10000
fuzz: $(VENV)/.dev
	$(BIN)/python tests/fuzz/campaign.py --count $(COUNT) --out fuzz

# Commands killed at random and on full disks (as root), until each comes to its end; KILLS=20 takes a few minutes.
KILLS ?= 200
crash: $(VENV)/.dev
	$(BIN)/python tests/crash/campaign.py --kills $(KILLS) --out crash

# The site, strictly: a broken link or a docstring that cannot be read stops it. Then its search is asked.
docs: browser
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --site-dir site
	$(BIN)/python -m pytest -p no:xdist tests/docs/test_site.py

# Wheel and sdist, each installed into fresh environments with the lowest and the newest versions; TAG=v1.2.3 of a release.
TAG ?=
release-check:
	$(PYTHON) -m venv $(VENV)-release
	$(VENV)-release/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt build twine uv
	$(VENV)-release/bin/python tools/release_check.py --tag "$(TAG)"

clean:
	rm -rf $(VENV) $(VENV)-release demo runs fuzz crash site dist
