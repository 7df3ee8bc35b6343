"""Checks of the exercises on chapter 03: two pooled vectors, bounds that fail, gamma measured."""

import math

import numpy as np
import torch

from grokkit import theory
from grokkit.classroom.checks.common import MATRIX_NORMS, as_tensor, distribution, parts, spectral
from grokkit.classroom.checks.exercise import Ask, Exercise, Function, each, mistaken
from grokkit.classroom.checks.expect import any_of, as_array, require

# --- 3.1 exchange one token ---------------------------------------------------------------


def before(d, new_share=None):
    """A pooled vector with the share and value of one token, and what is to take its place."""
    values, shares = d.numbers(4, 3), d.shares(4)
    new = d.one(0.1, 0.9) if new_share is None else new_share
    return shares @ values, shares[0].item(), values[0], new, values[1] * 2


def centroid(h, share, value):
    """Of all other tokens."""
    return (h - share * value) / (1 - share)


def after(h, share, value, new_share, new_value, others=centroid, left=lambda old, new: 1 - new):
    """The new pooled vector: the new token, and the others with what is left for them."""
    return new_share * new_value + left(share, new_share) * others(h, share, value)


ex_3_1 = Exercise.of(
    "exchange",
    right=after,
    cases={
        "the new token takes the place of the old one, with its own share and value": Ask(
            before, "The centroid m of all others is the same before and after, (13)."
        ),
        "a token that gets no attention leaves the centroid alone": Ask(
            lambda d: before(d, 0.0), "With a share of 0 only the centroid is left."
        ),
    },
    mistakes={
        "This is the change; the question is for h' itself.": any_of(
            lambda h, *rest: h - after(h, *rest), lambda h, *rest: after(h, *rest) - h
        ),
        "(14) is h - h': take it from h.": lambda h, *rest: 2 * h - after(h, *rest),
        "Old and new are exchanged.": lambda h, a, v, b, w: after(h, b, w, a, v),
        "Old and new token have their shares of attention, and the old one goes.": any_of(
            lambda h, a, v, b, w: h - v + w, lambda h, a, v, b, w: h + b * w
        ),
    }
    | mistaken(
        after,
        others={
            "Without the old token h is (1 - share) m: divide by that to get m.": any_of(
                lambda h, share, value: h - share * value,
                lambda h, share, value: (h - share * value) / share,
            ),
            "h was taken for m, the centroid of all others.": lambda h, share, value: h,
        },
        left={
            "The others have what the new token leaves, 1 - new_share.": any_of(
                lambda old, new: 1,
                lambda old, new: 1 - old,
                lambda old, new: (1 - old) ** 2 / (1 - new),
            )
        },
    ),
    hints=(
        "h is a mixture of two points: the old token, and the centroid m of all the others.",
        "h = share * value + (1 - share) * m. Solve for m.",
        "All others keep their proportions, so m stays. Mix it with the new token.",
    ),
    afterword="Written as h - h' it is (14).",
)

# --- 3.2 a bound that does not hold -------------------------------------------------------


def meets(given, gamma, xi):
    """Whether it is a pair as asked for, and its pooled vectors meet."""
    last = as_array(given[-1]) if isinstance(given, tuple | list) and given else None
    shape = () if last is None else last.shape
    asked = "Five things are asked for: two shares, two values [embed], the centroid [embed]."
    share, other, value, new, m = parts(given, [(), (), shape, shape, shape], asked)
    for one in (share, other):
        require(
            one < 1, "A share must leave something for the others: below 1.", one, what="a share"
        )
        cause = "A share is below gamma: B_gamma is broken."
        require(one >= gamma * (1 - 1e-6), cause, one, f"{gamma:g} or more", "a share")
    apart, size = np.linalg.norm(value - new), max(np.abs([value, new, m]).max(), 1e-30)
    cause = "The values are closer than the separation xi: the condition is not met."
    require(apart >= xi * (1 - 1e-6) - 1e-6 * size, cause, apart, f"{xi:g} or more", "|v - v'|")
    # Float32 may round; a gap as large as the bound itself it may not hide.
    rounding = min(1e-5 * share * np.linalg.norm(value - m) + 2e-6 * size, 0.01 * gamma * xi)
    gap = np.asarray(theory.pooled_difference(float(share), float(other), value, new, m))
    cause = "alpha_i (v - m) and alpha'_i (v' - m) are to be the same vector, for any gamma and xi."
    if abs(share - other) < 1e-9:
        cause = "With equal shares h - h' is share * (v - v'), which is not 0."
    elif np.allclose(other * (value - m), share * (new - m), rtol=1e-5):
        cause = "The shares are the wrong way round: the longer v - m needs the smaller one."
    elif np.allclose(share * value, other * new, rtol=1e-5):
        cause = "The values are measured from 0; (14) measures them from the centroid m."
    require(np.linalg.norm(gap) <= rounding, cause, gap, "0", "h - h'")


ex_3_2 = Exercise.of(
    "meet",
    judge=meets,
    cases={
        "two sequences that satisfy the condition, and whose pooled vectors meet": each(
            *((0.2, 1.0), (0.45, 3.0), (0.01, 50.0), (0.3, 0.001)),
            lambda d: (d.one(0.05, 0.49), d.one(0.5, 5)),
        )
    },
    hints=(
        "Put h - h' of (14) to 0. What does it say about v - m and v' - m?",
        "They must point in the same direction. With m = 0: share * value = new_share * new_value.",
        "Take two different shares, and a new_value that is long enough: the other value follows.",
    ),
    afterword="No MLP of any size tells these two apart. grokkit.theory.collision() is one more.",
)

# --- 3.3 one number for all shares --------------------------------------------------------


def is_false_alarm(given, k, length, gamma):
    """Whether it is an attention that breaks B_gamma with a KL below the bound."""
    attention = distribution(given, length)
    least, distractors = attention[:k].min(), attention[k:].sum()
    cause = "B_gamma holds: the informative shares, the first k, are all at least gamma."
    require(least < gamma, cause, given)
    kl = float(theory.kl_divergence((np.arange(length) < k) / k, attention))
    most = float(theory.delta_necessary(k, gamma))
    cause = "Let one share fall only just below gamma: by less than gamma itself is below 1/k."
    if least == 0:
        cause = "A share of 0 makes the KL infinite: just below gamma is enough."
    elif distractors > 1e-9:
        cause = "Some mass is on distractors: the other informative shares can use it."
    require(kl <= most, cause, given, f"a KL of at most {most:.4g}; it is {kl:.4g}")


ex_3_3 = Exercise(
    Function(
        "most_kl",
        right=lambda k, gamma: -math.log(k * gamma),
        cases={
            "B_gamma allows a KL of log(1 / (k gamma)), and no more": each(
                (3, 0.1),
                lambda d: (4, d.one(0.02, 0.2)),
                cause="With all k informative shares at gamma: (1/k) log((1/k) / gamma), k times.",
            )
        },
    ),
    Function(
        "false_alarm",
        judge=is_false_alarm,
        cases={
            "it breaks B_gamma, and its KL is below the bound, whatever k, T and gamma": each(
                *((2, 5, 0.05), (4, 9, 0.01), (3, 4, 0.3), (2, 3, 0.49), (2, 5, 0.499999)),
                lambda d: (5, 8, d.one(0.001, 0.199)),
            )
        },
    ),
    hints=(
        "KL is a mean over I* of log((1/k) / alpha_j). For which alpha_j >= gamma is it largest?",
        "At alpha_j = gamma for all of them; what is left goes to the distractors.",
        "Break it with one share below gamma, by less than gamma itself is below 1/k.",
    ),
    afterword="For a converse that holds see grokkit.theory.delta_sufficient.",
)

# --- 3.4 does it wait for the threshold? --------------------------------------------------


def margins(logits, targets):
    """The right logit minus the best wrong one, of each example."""
    own = targets[:, None]
    return logits.gather(1, own)[:, 0] - logits.scatter(1, own, -torch.inf).amax(dim=1)


def least(logits, targets):
    return margins(logits, targets).min().clamp(min=0)


def gamma_of(logits, targets, w_1, w_2, delta, margin=least, norm=spectral, c=2**0.5):
    return c * margin(logits, targets) / (norm(w_1) * norm(w_2) * delta)


def classified(d, wrong=False):
    """Logits with positive margins, or with one example answered wrongly; two matrices, Delta."""
    logits = 3 * d.numbers(4, 5)
    targets = logits.argmax(dim=1)
    if wrong:
        targets[2] = logits[2].argmin()
    return logits, targets, d.numbers(3, 6), d.numbers(6, 4), d.one(0.5, 2)


def pair_mass(
    table, tokens, position, both=lambda a, b: a + b, tried=lambda own, there, table: there - {own}
):
    """The least of both shares together, over the sequences and the tokens that are tried there."""

    def share(sequence):
        return table[range(len(sequence)), sequence].softmax(dim=0)[position]

    found, there = [], {*tokens[:, position].tolist()}
    for sequence in tokens:
        for token in tried(int(sequence[position]), there, table):
            other = sequence.clone()
            other[position] = token
            found.append(both(share(sequence), share(other)))
    return min(found).item()


def among_the_sequences(table, tokens, position):
    """Only pairs that are both among the sequences."""
    shares = table[range(tokens.shape[1]), tokens].softmax(dim=1)[:, position]
    pairs = torch.combinations(torch.arange(len(tokens)))
    differ = tokens[pairs[:, 0], position] != tokens[pairs[:, 1], position]
    return shares[pairs[differ]].sum(dim=1).min()


ROWS = torch.tensor([[0, 0, 3], [0, 1, 3], [2, 1, 3], [1, 2, 3], [1, 1, 3], [1, 1, 3]])

ex_3_4 = Exercise(
    Function(
        "gamma_of",
        right=gamma_of,
        cases={
            "gamma is c / (L_f Delta), from the least margin": Ask(
                classified, "c is sqrt(2) times the least margin, L_f a product of two norms."
            ),
            "where an example is answered wrongly gamma is 0": Ask(
                lambda d: classified(d, wrong=True), "The third example has no margin."
            ),
        },
        mistakes=mistaken(
            gamma_of,
            norm=MATRIX_NORMS,
            margin={
                "(27) needs the least margin.": any_of(
                    lambda z, y: margins(z, y).mean(), lambda z, y: margins(z, y).max()
                ),
                "The margin is negative here, so the theorem asks for nothing: 0.": (
                    lambda z, y: margins(z, y).min()
                ),
                "The margin is the right logit minus the best wrong one: errors must show in it.": (
                    lambda z, y: z.topk(2, dim=1).values.diff().abs().min()
                ),
            },
            c={"c is sqrt(2) times the margin, (25).": 1},
        ),
    ),
    Function(
        "least_pair_mass",
        right=pair_mass,
        cases={
            "a pair is a sequence and the same with another token at the position": Ask(
                lambda d: (d.numbers(2, 3), torch.tensor([[0, 2], [1, 2]]), 0),
                "Two sequences, and each turns into the other one: a single pair.",
            ),
            "the rest of the sequence is kept, and every token that stands there is tried": each(
                lambda d: (d.numbers(3, 4) - torch.eye(4, dtype=d.dtype)[2:3] * 3, ROWS, 1),
                lambda d: (2 * d.numbers(3, 4), ROWS, 0),
                cause="x' is x with any other token that stands at the position in some sequence.",
            ),
        },
        mistakes=mistaken(
            pair_mass,
            tried={
                "A sequence was paired with itself; the two must differ at the position.": (
                    lambda own, there, table: there
                ),
                "A token was tried that stands there in no sequence.": (
                    lambda own, there, table: {*range(table.shape[1])} - {own}
                ),
            },
            both={
                "(27) is about the sum of the two shares.": any_of(min, lambda a, b: (a + b) / 2)
            },
        )
        | {"x' keeps the rest of x, and need not be among the sequences.": among_the_sequences},
    ),
    hints=(
        "The best wrong logit: put -inf where the right one is (`scatter`), then take the maximum.",
        "`torch.linalg.matrix_norm(W, 2)` is the largest singular value; a negative margin is 0.",
        "Pairs: put each token that stands at the position into *all* sequences and look again.",
        "Its share, plus that of each original with another token there: the least of all sums.",
    ),
    afterword="hindsight_conditions in grokkit.diagnostics reads it off runs, with 2R for Delta.",
)

# --- 3.5 hardly ever looking --------------------------------------------------------------


def looks_seldom(given, k, length, gamma, tiny):
    """Whether (27) holds for every pair that differs in an informative bit, and B_gamma fails."""
    asked = f"A table of scores of shape {[length + 1, 3]} is asked for."
    table = as_tensor(given, [length + 1, 3], asked)
    bits = torch.cartesian_prod(*[torch.arange(2)] * length).view(*[2] * length, length)
    tokens = torch.nn.functional.pad(bits, (0, 1), value=2)
    attention = table[torch.arange(length + 1), tokens].softmax(dim=-1)
    both = min((attention + attention.flip(i))[..., i].min() for i in range(k))
    cause = "(27) is broken: let one of a bit's two tokens be louder than all that is silent."
    require(both >= gamma, cause, both, f"a sum of {gamma:g} or more in every pair")
    single = attention[..., :k].min()
    cause = "Of two sequences only *one* has to look at the bit in which they differ."
    require(single < tiny, cause, single, f"a share below {tiny:g} somewhere")


ex_3_5 = Exercise.of(
    "seldom_looks",
    judge=looks_seldom,
    cases={
        "every pair is told apart by attention that seldom looks": each(
            *((2, 3, 0.3, 0.01), (3, 5, 0.2, 1e-6), (1, 4, 0.9, 1e-3)),
            *((3, 3, 0.333, 1e-9), (2, 7, 0.4999, 1e-4)),
            lambda d: (2, 4, d.one(0.05, 0.49), 1e-5),
        )
    },
    hints=(
        "A bit that is turned is a 1 in one of the two sequences, and a 0 in the other.",
        "So it is enough to look at ones: how much has a 1 if m bits are ones, the rest silent?",
        "A 1 with the score s has at least 1 / (k + length e^-s). How large must s be for gamma?",
    ),
    afterword="The theorem's condition is about pairs; B_gamma is a convenient way to ensure it.",
)
