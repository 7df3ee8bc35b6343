# `make lab` opens the course, `make test` checks a change in minutes, `make test-all` checks everything.
# All they need is make and a Python of 3.11 or newer; everything else goes into .venv.

VENV := .venv
BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --disable-pip-version-check

# The first Python on this machine that is new enough; override with PYTHON=...
PYTHON ?= $(shell for python in python3 python python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo "$$python"; break; }; done)
# Where to take torch from, such as https://download.pytorch.org/whl/cpu; empty for pip's own.
TORCH_INDEX ?=
# What to hand to JupyterLab, such as "--no-browser --port 8899".
JUPYTER_ARGS ?=
# How many tests to run at once.
JOBS ?= 2

.PHONY: test-lowest help lab check test test-all gpu notebooks site playground format
.DELETE_ON_ERROR:

help:
	@echo 'make lab        install the course and open it in JupyterLab'
	@echo '                  TORCH_INDEX=https://download.pytorch.org/whl/cpu   a smaller, CPU-only torch'
	@echo '                  JUPYTER_ARGS="--no-browser --port 8899"            options for JupyterLab'
	@echo 'make test       install the tools and run the quick checks: lint, types, tests'
	@echo 'make test-all   run every check: those, the slow tests, the browser, the lessons and exercises'
	@echo 'make gpu        judge this machine'"'"'s GPU in eight minutes; what it finds goes into gpu/'
	@echo 'make notebooks  run the lessons anew and write the notebooks from course/*.py and solutions/*.py'
	@echo 'make site       build the course as static pages, into build/site'
	@echo 'make format     put the code into shape'

# JupyterLab refuses to run as root unless told so; in a container root is the only user.
lab: $(VENV)/.course
	@exec $(BIN)/jupyter lab $$(test "$$(id -u)" != 0 || echo --allow-root) --ServerApp.root_dir=. \
		--LabApp.default_url=/lab/tree/course/00_index.ipynb $(JUPYTER_ARGS)

test: check
	$(BIN)/pytest -n $(JOBS) --dist loadscope -m "not slow" tests

test-all: check
	$(BIN)/pytest -n $(JOBS) --dist loadscope --nbval tests course exercises

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

# Of test-all: the package with the lowest versions that pyproject.toml allows.
test-lowest: $(VENV)/.dev
	$(BIN)/pytest tests/lowest

gpu: $(VENV)/.course
	$(BIN)/python -m grokkit.bench.gpu --out gpu

notebooks: $(VENV)/.dev
	$(BIN)/grokkit notebooks build
	$(BIN)/grokkit notebooks exercises

site: $(VENV)/.dev
	$(BIN)/python course/site/build.py

# Needs clang and wasm-ld; what it builds is committed.
playground:
	sh course/playground/build.sh

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# An empty file marks each finished installation, so that the next command starts at once.
$(VENV)/.course: $(BIN)/python pyproject.toml constraints.txt
	$(call install,course)
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	$(call install,dev)
	@touch $@ $(VENV)/.course

# JupyterLab's question about news would lie over the corner of a lesson until it is answered.
define install
$(if $(TORCH_INDEX),$(PIP) install -c constraints.txt --index-url $(TORCH_INDEX) torch)
$(PIP) install -c constraints.txt -e '.[$(1)]'
$(BIN)/jupyter labextension disable --level sys_prefix @jupyterlab/apputils-extension:announcements
endef

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo 'grokkit needs Python 3.11 or newer; none was found. Install one, or name it: make lab PYTHON=/path/to/python3' >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo '$(PYTHON) is older than Python 3.11, or no Python at all.' >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo '$(PYTHON) comes without the venv module; on Debian or Ubuntu: sudo apt install python3-venv' >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV)
