"""The playground's kernel trains what grokkit trains.

In double precision, built for this machine, it agrees with the engine to rounding. In float32
two orders of summation drift apart within 100 epochs, the engine's own included; the page's
kernel is held against the engine while rounding is still small.
"""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from grokkit.engine import RunSpec, presets
from tests.playground.exported import PLAYGROUND, losses, native_losses

LIVE = presets["live"]
COMPILER = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernel in double precision."""
    if COMPILER is None:
        pytest.skip("no C compiler")
    path = tmp_path_factory.mktemp("kernel") / "kernel.so"
    flags = ["-O2", "-DDOUBLE", "-shared", "-fPIC", "-w", "-Wno-psabi"]
    source = str(PLAYGROUND / "kernel.c")
    subprocess.run([COMPILER, *flags, "-o", str(path), source, "-lm"], check=True)
    return path


@pytest.mark.parametrize(
    "spec",
    [
        LIVE,
        LIVE.with_(prior="kl", kl_strength=1.0, seed=1),
        LIVE.with_(distractors="random", p=23, weight_decay=0.0),
        LIVE.with_(distractors="constant", p=59, weight_decay=3.0, train_fraction=0.3),
        LIVE.with_(task="modular_multiplication", p=31, learning_rate=1e-2, train_fraction=0.8),
    ],
    ids=["live", "kl", "random", "constant", "multiplication"],
)
def test_it_agrees_with_the_engine_in_double_precision(library: Path, spec: RunSpec):
    ours, theirs = losses(spec, 41, "float64"), native_losses(library, spec, 41)
    np.testing.assert_allclose(theirs, ours[:41], rtol=1e-10)


def test_the_committed_kernels_are_built_from_the_source(tmp_path: Path):
    """The same clang gives the same bytes; another one cannot tell."""
    if shutil.which("clang") is None or shutil.which("wasm-ld") is None:
        pytest.skip("no clang with wasm-ld")
    version = subprocess.run(["clang", "--version"], capture_output=True, text=True).stdout
    if "14.0" not in version.split("\n")[0]:
        pytest.skip("another clang than the one that built them")
    for name in ("kernel.c", "build.sh"):
        shutil.copy(PLAYGROUND / name, tmp_path)
    subprocess.run(["sh", str(tmp_path / "build.sh")], check=True, env=os.environ)
    for name in ("kernel.wasm", "kernel-plain.wasm"):
        assert (tmp_path / name).read_bytes() == (PLAYGROUND / name).read_bytes(), name
