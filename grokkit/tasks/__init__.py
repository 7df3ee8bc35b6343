"""Sparse tasks: sequences whose target depends on a few of their positions (Definition 3.1).

A task is a frozen dataclass of settings; its ``build(seed)`` gives the data:

>>> from grokkit.tasks import ModularAddition
>>> data = ModularAddition(p=43, train_fraction=0.5).build(seed=0)
>>> data.train.tokens.shape, data.n_tokens, data.n_classes
(torch.Size([924, 5]), 48, 43)

Glossary, with the letters of arXiv 2605.15787:

=============  =======  ==============================================================
word           letter   meaning
=============  =======  ==============================================================
position       j        a place in a sequence, 0..T-1
query          q        the position that is read out: the last, whose token "=" is the same
                        in every sequence; in next-token prediction each position in turn
informative    I*, k    the positions on which the target depends, and their number
distractor              the token at any other position before the query
operand                 a token at an informative position
input                   all operands of a sequence: a pair, k numbers, a bit string
group                   the number of the input; train and test share none
draw                    one filling of an input's distractor positions
mirror                  the same operands in another order
hole                    a region of the table of pairs in which nothing is trained on
oracle         alpha*   the attention 1/k on I* and 0 elsewhere
=============  =======  ==============================================================

Axis names: ``example`` (a sequence of a set), ``pos`` (a position in it), ``input``,
``operand`` (a place among the operands), ``draw``, ``gap`` (a distractor position).
"""

from grokkit.tasks.arithmetic import (
    HoleKind,
    KOperandAddition,
    ModularAddition,
    ModularDivision,
    ModularMultiplication,
    ModularQuadratic,
    ModularSubtraction,
    ModularTask,
    PermutationComposition,
    PrimeField,
)
from grokkit.tasks.base import Sequences, Task, TaskData, register_task, tasks
from grokkit.tasks.data_condition import covered, nearest_train_distance, threshold_fraction
from grokkit.tasks.operands import DistractorKind, Distractors, OperandTask
from grokkit.tasks.parity import AutoregressiveParity, SparseParity
from grokkit.tasks.routing import LongerAddition, MarkedAddition
from grokkit.tasks.split import SplitKind
