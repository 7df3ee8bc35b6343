"""The Transformer, of one layer or several, for one run or many at once.

The axes, by the names that every shape in this package uses:

    run      independent trainings of one group, always the leading axis
    example  a sequence of the data set
    pos      a position in a sequence; the last is the query, the "=" sign, except in
             next-token prediction, where every position is the query of some example
    slot     a (position, token) pair that occurs in the data
    query    a slot that is some example's query; there is one, with that exception
    head     an attention head; with several layers, those of the first layer first
    embed    a coordinate of embeddings, values and the pooled representation, d_model
    hidden   a ReLU unit of the MLP, d_mlp
    class    a possible answer
"""

from grokkit.core.loss import cross_entropy
from grokkit.model.attention import Activations, attend
from grokkit.model.batch import Batch
from grokkit.model.initial import initialise
from grokkit.model.parameters import MLP_WEIGHTS, QK_WEIGHTS, Layout, Parameters, of_kinds, of_layer
from grokkit.model.slots import Readers, Slots
from grokkit.model.spec import ModelSpec
from grokkit.model.transformer import Transformer
