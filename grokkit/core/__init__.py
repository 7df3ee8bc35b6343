"""The textbook: one run, from the task to the ticket, in plain PyTorch.

Read it in this order; each file imports only those above it. The number is that of the chapter, and
of the lesson of the course, that the file belongs to.

    common.py             random streams, and refusing settings
    distractors.py  1     what stands between the operands
    task.py         1     sequences whose class depends on a few positions; the oracle; the split
    model.py        2     embeddings, attention, and the two readouts
    loss.py         4     the cross-entropy, exact where the gradient starves
    priors.py       6     KL to the oracle, and what else may be added to the loss
    measures.py     3, 4  where attention looks, how large the MLP is, how much gradient is left
    optimizers.py   5     AdamW and others, and their weight decay
    tickets.py      7     pruning, rewinding, and training under a mask
    train.py              the loop

>>> from grokkit.core import LIVE, train
>>> result = train(LIVE)  # doctest: +SKIP
>>> result.memorised, result.grokked  # doctest: +SKIP

This is the specification of the package. :mod:`grokkit.engine` trains many runs at once, several
times as fast, and has more kinds of tasks, networks and priors; a test holds it equal to this for
every setting that is here. Formulas and statement numbers are those of arXiv 2605.15787.
"""

from grokkit.core.loss import cross_entropy
from grokkit.core.measures import record
from grokkit.core.model import Model, Seen, Transformer, attend
from grokkit.core.optimizers import SGD, Adam, AdamW, Lion, Muon, Optimizer, Stepper
from grokkit.core.priors import Prior, divergence, penalty
from grokkit.core.task import Data, Examples, Parity, Task
from grokkit.core.tickets import Ticket, prune, shuffled
from grokkit.core.train import LIVE, Result, Run, differentiate, train
