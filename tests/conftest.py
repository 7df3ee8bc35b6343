"""Settings that every test shares: one thread, no windows, no progress bars, no chance."""

import os

# Before anything imports NumPy, torch or matplotlib, and handed down to every kernel and worker.
for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"
os.environ["TQDM_DISABLE"] = "1"

import matplotlib
import torch
from hypothesis import settings

torch.set_num_threads(1)
matplotlib.use("Agg")  # not by MPLBACKEND: kernels would inherit it and show no figures

# The same examples on every run and on every machine, and no clock that fails on a busy one.
settings.register_profile("grokkit", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("grokkit")
