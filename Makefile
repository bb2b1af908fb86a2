# `make demo` and `make test` set everything up by themselves, on a fresh machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEERS := .venv-peers

.PHONY: demo test lint format bench sanitize soak peers browser clean

demo: $(READY)
	$(BIN)/python examples/dates.py

# two tests at a time with one thread each: small nets gain nothing from a second thread
test: lint browser
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist worksteal

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright

# pages are tested in a real one; without it, and without the right to install it, those tests are skipped and say so
browser:
	@command -v chromium > /dev/null || \
	    { test "$$(id -u)" = 0 && apt-get update -qq && \
	      DEBIAN_FRONTEND=noninteractive apt-get install -qq -y chromium > /dev/null; } || \
	    echo "no chromium on this machine: browser tests will be skipped"

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m bench.attention

# The kernels built with gcc's sanitizers, in a cache of their own, and called with whatever there is. What these need is
# loaded before all else: libstdc++ as well, whose exceptions they have to know. Complaints go past pytest, which would
# not live to show them.
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g
KERNEL_TESTS := tests/runtime/test_sanitizers.py tests/runtime/test_fuzz.py tests/runtime/test_fence.py \
    tests/runtime/test_quantized.py tests/runtime/test_shortlist.py tests/runtime/test_operators.py \
    tests/attention/test_kernels.py tests/decode/test_best.py tests/nets/test_dropout.py tests/nets/test_fused_encoder.py \
    tests/nets/test_transformer_steps.py tests/nets/test_turing.py

sanitize: $(READY)
	SACCADE_SANITIZED=1 SACCADE_FUZZ=4000 SACCADE_CACHE=$(CURDIR)/build/sanitized \
	    OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive \
	    CC="env -u LD_PRELOAD gcc $(SANITIZERS)" \
	    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
	    LD_PRELOAD="$$(for name in asan ubsan stdc++; do gcc -print-file-name=lib$$name.so; done | tr '\n' ' ')" \
	    $(BIN)/python -m pytest -q -p no:cacheprovider -p no:faulthandler --capture=sys $(KERNEL_TESTS)

# hours of kills, damaged folders, strange commands and strange lines; `soak --quick` is a few minutes of it
soak: $(READY)
	$(BIN)/python -m soak

# other toolkits, for bench.train and bench.decode to run beside
peers: $(PEERS)/.ready

$(PEERS)/.ready: bench/peers.txt bench/peers-alone.txt
	test -d $(PEERS) || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r bench/peers.txt
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r bench/peers-alone.txt
	touch $(PEERS)/.ready

# PIP_CONSTRAINT, not `-c`, so that isolated builds keep to the pinned versions as well
$(READY): pyproject.toml constraints.txt
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) $(PEERS) .pytest_cache .ruff_cache .hypothesis dist build
