"""Checks of the exercises on chapter 03: two pooled vectors, bounds that fail, gamma measured."""

import math

import numpy as np
import torch

from grokkit import theory
from grokkit.classroom.checks.common import MATRIX_NORMS, distribution, parts, spectral
from grokkit.classroom.checks.exercise import Ask, Exercise, Function, each, mistaken
from grokkit.classroom.checks.expect import any_of, as_array, as_floats, require

# --- 3.1 exchange one token ---------------------------------------------------------------


def exchange(d, new_share=None):
    """A pooled vector with the share and value of one token, and what is to take its place."""
    values, shares = d.numbers(4, 3), d.shares(4)
    new = d.one(0.1, 0.9) if new_share is None else new_share
    return shares @ values, shares[0].item(), values[0], new, values[1] * 2


def after(h, a, v, b, w, rest=lambda h, a, v: (h - a * v) / (1 - a), left=lambda a, b: 1 - b):
    """h', from the centroid of the rest and what is left for it."""
    return b * w + left(a, b) * rest(h, a, v)


ex_3_1 = Exercise(
    Function(
        "exchange",
        right=after,
        cases={
            "the new token takes the place of the old one, with its own share and value": Ask(
                exchange, "The centroid m of all others is the same before and after, (13)."
            ),
            "a token that gets no attention leaves the centroid alone": Ask(
                lambda d: exchange(d, 0.0), "With a share of 0 only the centroid is left."
            ),
        },
        mistakes={
            "This is the change; the question is for h' itself.": any_of(
                lambda h, *given: h - after(h, *given), lambda h, *given: after(h, *given) - h
            ),
            "(14) is h - h': take it from h. Or are old and new exchanged?": any_of(
                lambda h, *given: 2 * h - after(h, *given),
                lambda h, a, v, b, w: after(h, b, w, a, v),
            ),
            "Old and new token have their shares of attention, and the old one goes.": any_of(
                lambda h, a, v, b, w: h - v + w, lambda h, a, v, b, w: h + b * w
            ),
        }
        | mistaken(
            after,
            rest={
                "Without the old token h is (1 - share) m: divide by that to get m.": any_of(
                    lambda h, a, v: h - a * v, lambda h, a, v: (h - a * v) / a
                ),
                "h was taken for m, the centroid of all others.": lambda h, a, v: h,
            },
            left={
                "The others have what the new token leaves, 1 - new_share.": any_of(
                    lambda a, b: 1, lambda a, b: 1 - a, lambda a, b: (1 - a) ** 2 / (1 - b)
                )
            },
        ),
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
    a, b, v, w, m = parts(given, [(), (), shape, shape, shape], asked)
    for share in (a, b):
        require(share < 1, "A share must leave something for the others: below 1.", share)
        cause = "A share is below gamma: B_gamma is broken."
        require(share >= gamma * (1 - 1e-6), cause, share, f"{gamma:g} or more")
    apart, size = np.linalg.norm(v - w), max(np.abs([v, w, m]).max(), 1e-30)
    cause = "The values are closer than the separation xi: the condition is not met."
    require(apart >= xi * (1 - 1e-6) - 1e-6 * size, cause, apart, f"{xi:g} or more")
    cause = "alpha_i (v - m) and alpha'_i (v' - m) are to be the same vector, for any gamma and xi."
    if abs(a - b) < 1e-9:
        cause = "With equal shares h - h' is share * (v - v'), which is not 0."
    elif np.allclose(b * (v - m), a * (w - m), rtol=1e-5):
        cause = "The shares are the wrong way round: the longer v - m needs the smaller one."
    elif np.allclose(a * v, b * w, rtol=1e-5):
        cause = "The values are measured from 0; (14) measures them from the centroid m."
    # Float32 may round; a gap as large as the bound itself it may not hide.
    rounding = min(1e-5 * a * np.linalg.norm(v - m) + 2e-6 * size, 0.01 * gamma * xi)
    gap = np.asarray(theory.pooled_difference(float(a), float(b), v, w, m))
    require(np.linalg.norm(gap) <= rounding, cause, gap, "h - h' = 0")


ex_3_2 = Exercise(
    Function(
        "meet",
        judge=meets,
        cases={
            "two sequences that satisfy the condition, and whose pooled vectors meet": each(
                *((0.2, 1.0), (0.45, 3.0), (0.01, 50.0), (0.3, 0.001)),
                lambda d: (d.one(0.05, 0.49), d.one(0.5, 5)),
            )
        },
    ),
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
    alpha = distribution(given, length)
    cause = "B_gamma holds: the informative shares, the first k, are all at least gamma."
    require(alpha[:k].min() < gamma, cause, given)
    kl = float(theory.kl_divergence((np.arange(length) < k) / k, alpha))
    most = float(theory.delta_necessary(k, gamma))
    cause = "Let one share fall only just below gamma: by less than gamma itself is below 1/k."
    if alpha[:k].min() == 0:
        cause = "A share of 0 makes the KL infinite: just below gamma is enough."
    elif alpha[k:].sum() > 1e-9:
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
        mistakes={
            "It is a mean of k terms log((1/k) / gamma): is a 1/k missing?": any_of(
                lambda k, gamma: -k * math.log(k * gamma),
                lambda k, gamma: -math.log(gamma),
                lambda k, gamma: math.log(k / gamma),
            ),
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


def margins(z, y):
    """The right logit minus the best wrong one, of each example."""
    own = y[:, None]
    return z.gather(1, own)[:, 0] - z.scatter(1, own, -torch.inf).amax(dim=1)


def least(z, y):
    return margins(z, y).min().clamp(min=0)


def gamma_of(z, y, w_1, w_2, spread, margin=least, norm=spectral, c=2**0.5):
    return c * margin(z, y) / (norm(w_1) * norm(w_2) * spread)


def classified(d, wrong=False):
    """Logits with positive margins, or with one example answered wrongly; two matrices, Delta."""
    logits = 3 * d.numbers(4, 5)
    targets = logits.argmax(dim=1)
    if wrong:
        targets[2] = logits[2].argmin()
    return logits, targets, d.numbers(3, 6), d.numbers(6, 4), d.one(0.5, 2)


def other_tokens(own, there, table):
    return {*there} - {own}


def pair_mass(table, tokens, position, add=lambda a, b: a + b, tried=other_tokens):
    """The least `add(alpha_i, alpha'_i)` over the pairs that are tried."""
    at, there, found = range(tokens.shape[1]), tokens[:, position].tolist(), []
    for row in tokens:
        for token in tried(int(row[position]), there, table):
            other = row.clone()
            other[position] = token
            found.append(add(*(table[at, x].softmax(0)[position] for x in (row, other))))
    return min(found).item()


def among(table, tokens, position):
    """Only pairs that are both among the sequences."""
    alpha = table[range(tokens.shape[1]), tokens].softmax(dim=1)[:, position]
    pairs = [(i, j) for i in range(len(tokens)) for j in range(i)]
    return min(alpha[i] + alpha[j] for i, j in pairs if tokens[i, position] != tokens[j, position])


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
        )
        | {
            "Delta belongs below the fraction line.": any_of(
                lambda z, y, w, u, delta: gamma_of(z, y, w, u, 1),
                lambda z, y, w, u, delta: gamma_of(z, y, w, u, 1 / delta),
            )
        },
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
            add={"(27) is about the sum of the two shares.": any_of(min, lambda a, b: (a + b) / 2)},
        )
        | {"x' keeps the rest of x, and need not be among the sequences.": among},
    ),
    hints=(
        "The best wrong logit: put -inf where the right one is (`scatter`), then take the maximum.",
        "`torch.linalg.matrix_norm(W, 2)` is the largest singular value; a negative margin is 0.",
        "For the pairs: put each token that stands at the position into *all* sequences, look the "
        "attention up again, and add it to that of the originals that had another token there.",
    ),
    afterword="hindsight_conditions in grokkit.diagnostics reads it off runs, with 2R for Delta.",
)

# --- 3.5 hardly ever looking --------------------------------------------------------------


def looks_seldom(given, k, length, gamma, tiny):
    """Whether (27) holds for every pair that differs in an informative bit, and B_gamma fails."""
    asked = f"A table of scores of shape {[length + 1, 3]} is asked for."
    table = torch.from_numpy(as_floats(given, [length + 1, 3], asked))
    require(table.isfinite().all(), "A score is no finite number.", given)
    bits = torch.cartesian_prod(*[torch.arange(2)] * length).view(*[2] * length, length)
    tokens = torch.nn.functional.pad(bits, (0, 1), value=2)
    alpha = table[torch.arange(length + 1), tokens].softmax(dim=-1)
    both = min((alpha + alpha.flip(i))[..., i].min() for i in range(k))
    cause = "(27) is broken: let one of a bit's two tokens be louder than all that is silent."
    require(both >= gamma, cause, both, f"a sum of {gamma:g} or more in every pair")
    single = alpha[..., :k].min()
    cause = "Of two sequences only *one* has to look at the bit in which they differ."
    require(single < tiny, cause, single, f"a share below {tiny:g} somewhere")


ex_3_5 = Exercise(
    Function(
        "seldom_looks",
        judge=looks_seldom,
        cases={
            "every pair is told apart by attention that seldom looks": each(
                *((2, 3, 0.3, 0.01), (3, 5, 0.2, 1e-6), (1, 4, 0.9, 1e-3)),
                *((3, 3, 0.333, 1e-9), (2, 7, 0.4999, 1e-4)),
                lambda d: (2, 4, d.one(0.05, 0.49), 1e-5),
            )
        },
    ),
    hints=(
        "A bit that is turned is a 1 in one of the two sequences, and a 0 in the other.",
        "So it is enough to look at ones: how much has a 1 if m bits are ones, the rest silent?",
        "A 1 with the score s has at least 1 / (k + length e^-s). How large must s be for gamma?",
    ),
    afterword="The theorem's condition is about pairs; B_gamma is a convenient way to ensure it.",
)
