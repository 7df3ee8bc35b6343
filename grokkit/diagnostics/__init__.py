"""What to measure on a model in training, one module a concept.

structure     where attention looks: mass, KL from the oracle, entropy (B_gamma)
shortcut      whether the MLP reads the norm of its input
capacity      norm and Lipschitz bound of the MLP (N), logit margins, sizes of values
starvation    what is left of the gradient that would teach attention, and its bounds (Lemma 5.1)
collapse      what the usual cross-entropy would have rounded away
variance      how unequal scores are, and could be (Conjecture E.1)
fourier       which waves a network adds with
clock         whether it adds by multiplying waves or by adding them (Clock, Pizza)
features      how compressible features are: ranks, and the exponent of their spectrum
uniformity    whether embeddings lie evenly round a closed curve (MED)
class_spread  whether what has one answer lies in one place
queries       the same, query by query, for next-token prediction
kernel        how far the tangent kernel has drifted and turned
phases        when a run memorised, waited, and grokked, read off its History
plateau       how long the waits should have been (5), (7), and the thresholds of B_gamma and N
order         half-rise epochs of slow signals, and whether seeds agree (Kendall's W)
inverse_fit   how grok epochs fall with the strength of a prior

The names below are those that lessons and other rooms use; the rest is in the modules.
"""

from grokkit.diagnostics.capacity import lipschitz, mlp_norm
from grokkit.diagnostics.class_spread import class_spread, pair_spread
from grokkit.diagnostics.features import compressibility
from grokkit.diagnostics.fourier import (
    all_sequences,
    embedding_power,
    excluded_loss,
    fourier_concentration,
    key_frequencies,
    logit_table,
    restricted_loss,
    sum_power,
)
from grokkit.diagnostics.inverse_fit import InverseFit, fit_inverse
from grokkit.diagnostics.kernel import evenly_spaced, kernel_drift, network_logits, tangent_kernel
from grokkit.diagnostics.order import (
    Transition,
    half_rise_epoch,
    kendall_w,
    measure_transition,
    midranks,
)
from grokkit.diagnostics.phases import (
    PHASES,
    grok_epoch,
    memorise_epoch,
    phase_borders,
    phase_labels,
)
from grokkit.diagnostics.plateau import hindsight_conditions, kl_times, plateau_lengths
from grokkit.diagnostics.starvation import score_gradients, starvation_exponent
from grokkit.diagnostics.structure import (
    attention_kl,
    distributed_share,
    head_entropy,
    map_entropy,
    min_informative_mass,
    summed_head_mass,
)
from grokkit.diagnostics.uniformity import logarithm_order, token_uniformity
