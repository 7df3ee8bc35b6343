"""What every test and every notebook run by nbval shares, whichever folders are asked for."""

import os

# Before anything imports NumPy, torch or matplotlib, and handed down to every kernel and worker.
for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"
os.environ["TQDM_DISABLE"] = "1"

pytest_plugins = ["tests.notebooks.kernel_costs", "tests.notebooks.picture_words"]
