"""Settings that every test shares: one thread, no windows, no chance."""

import matplotlib
import torch
from hypothesis import settings

torch.set_num_threads(1)
matplotlib.use("Agg")  # not by MPLBACKEND: kernels would inherit it and show no figures

# The same examples on every run and on every machine, and no clock that fails on a busy one.
settings.register_profile("grokkit", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("grokkit")
