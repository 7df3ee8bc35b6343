"""For ``pytest --nbval-lax exercises/``: red at the cell whose answer is wrong, green at a stub.

In JupyterLab a check shows a wrong answer and the notebook goes on. Here it raises.
"""

import os

# Kernels inherit these. One thread each: small tensors gain nothing from more.
os.environ.setdefault("GROKKIT_CHECKS", "raise")
os.environ.setdefault("OMP_NUM_THREADS", "1")
