"""Checks of the exercises on chapter 03: two pooled vectors, bounds that fail, gamma measured."""

import math

import numpy as np
import torch

from grokkit import theory
from grokkit.classroom.checks.exercise import Ask, Exercise, Function
from grokkit.classroom.checks.expect import any_of, as_array, numbers, require

# --- 3.1 exchange one token ---------------------------------------------------------------


def pooled(d, new_share=None, same_value=False):
    """A pooled vector with the share and value of one token, and what is to take its place."""
    values, shares = d.numbers(4, 3), d.shares(4)
    share = shares[0].item()
    new = share if new_share == "same" else d.one(0.1, 0.9) if new_share is None else new_share
    return shares @ values, share, values[0], new, values[0] if same_value else d.numbers(3)


def mixed(rest=lambda m, a, b: (1 - b) * m, own=lambda v, a, w, b: b * w):
    """The new h from the part of the others and that of the token itself."""

    def answer(h, a, v, b, w):
        return own(v, a, w, b) + rest((h - a * v) / (1 - a), a, b)

    return answer


after = mixed()

ex_3_1 = Exercise(
    "ex_3_1",
    Function(
        "exchange",
        right=after,
        cases={
            "with the same share, only the value is exchanged": Ask(
                lambda d: pooled(d, "same"),
                "All others have what they had. The new token takes the place of the old one, "
                "weighted with its share.",
            ),
            "with another share, all other tokens shrink or grow by one factor": Ask(
                lambda d: pooled(d, same_value=True),
                "The centroid of the others is the same point m in both sequences, (13). Its "
                "weight is what the token leaves: 1 - share before, 1 - new_share afterwards.",
            ),
            "both at once, and a token that gets no attention": [
                Ask(pooled, "The old value goes with the old share, the new one with the new."),
                Ask(lambda d: pooled(d, 0.0), "With a share of 0 only the centroid is left."),
            ],
        },
        mistakes={
            "This is h - h', the closed form (14); the question is for h' itself.": (
                lambda h, a, v, b, w: h - after(h, a, v, b, w)
            ),
            "This is h' - h, the change; the question is for h' itself.": lambda h, a, v, b, w: (
                after(h, a, v, b, w) - h
            ),
            "The change has the wrong sign. (14) is h - h': to get h' take it from h; here it was "
            "added. Or are old and new exchanged?": any_of(
                lambda h, a, v, b, w: 2 * h - after(h, a, v, b, w),
                lambda h, a, v, b, w: after(h, b, w, a, v),
            ),
            "The values are exchanged without their share of attention.": lambda h, a, v, b, w: (
                h - v + w
            ),
            "The old token is still in it: take it out of h first.": lambda h, a, v, b, w: (
                h + b * w
            ),
            "The rest is not divided by what it had, 1 - share: that is how it becomes a "
            "centroid.": mixed(lambda m, a, b: (1 - a) * m * (1 - b)),
            "It is divided by the old share; the others had what it leaves, 1 - share.": mixed(
                lambda m, a, b: (1 - b) * m * (1 - a) / a
            ),
            "The rest has become a centroid and is not yet weighted with 1 - new_share.": mixed(
                lambda m, a, b: m
            ),
            "The others keep their old shares, so that all no longer sum to 1; they are rescaled "
            "by c = (1 - new_share) / (1 - share), (12).": mixed(lambda m, a, b: (1 - a) * m),
            "The factor c of (12) is upside down.": mixed(
                lambda m, a, b: (1 - a) * m * (1 - a) / (1 - b)
            ),
            "h was taken for m: h has the old token in it, m is the centroid of all others.": (
                any_of(
                    lambda h, a, v, b, w: b * w + (1 - b) * h,
                    lambda h, a, v, b, w: h - a * (v - h) + b * (w - h),
                )
            ),
            "A sign: from m the pooled vector goes *towards* the token, not away from it.": mixed(
                lambda m, a, b: (1 + b) * m, lambda v, a, w, b: -b * w
            ),
            "The old value is still in it, with the new share.": mixed(
                own=lambda v, a, w, b: b * v
            ),
        },
    ),
    hints=(
        "h is a mixture of two points: the old token, and the centroid m of all the others.",
        "h = share * value + (1 - share) * m. Solve for m.",
        "All others keep their proportions, so m is the same afterwards: mix it with the new "
        "token, and give it what the new share leaves.",
    ),
    afterword="Written as h - h' it is (14).",
)

# --- 3.2 a bound that does not hold -------------------------------------------------------


def meets(given, gamma, xi):
    """Whether it is a pair as asked for, and its pooled vectors meet."""
    require(
        isinstance(given, tuple | list) and len(given) == 5,
        "Five things are asked for: two shares, two values, the centroid.",
        given,
    )
    arrays = [as_array(part) for part in given]
    parts = [p.astype(float) for p in arrays if p is not None and p.dtype.kind in "iuf"]
    require(
        len(parts) == 5
        and parts[0].size == parts[1].size == 1
        and parts[2].shape == parts[3].shape == parts[4].shape
        and parts[2].ndim == 1,
        "The shares are two numbers; the values and the centroid are three tensors [embed].",
        given,
    )
    a, b = (p.item() for p in parts[:2])
    v, w, m = parts[2:]
    for name, share in (("alpha_i", a), ("alpha'_i", b)):
        shown = {name: share}
        require(share < 1, f"{name} must leave something for the other tokens: below 1.", shown)
        require(
            share >= gamma * (1 - 1e-6),
            f"{name} is below gamma: B_gamma is broken.",
            shown,
            f"{name} of at least gamma = {gamma:g}",
        )
    apart, size = np.linalg.norm(v - w), max(np.abs([v, w, m]).max(), 1e-30)
    require(
        apart >= xi * (1 - 1e-6) - 1e-6 * size,
        "The two values are closer than the separation xi: the condition is not met, so the "
        "bound promises nothing here.",
        {"v_i": v, "v'_i": w},
        f"values that are at least {xi:g} apart; these are {apart:.4g} apart",
    )
    gap = np.asarray(theory.pooled_difference(a, b, v, w, m))
    if abs(a - b) < 1e-9:
        cause = (
            "With equal shares h - h' is share * (v - v'), which is not 0. Give the nearer of the "
            "two values the larger share."
        )
    elif np.allclose(b * (v - m), a * (w - m), rtol=1e-5):
        cause = "The shares are the wrong way round: the longer v - m needs the *smaller* share."
    elif np.allclose(a * v, b * w, rtol=1e-5):
        cause = "The values are measured from 0; (14) measures them from the centroid m."
    else:
        cause = (
            "By (14), alpha_i (v - m) and alpha'_i (v' - m) must be the same vector, whatever "
            "gamma and xi are. Do numbers in the code suit one gamma or xi only?"
        )
    # Float32 may round; a gap as large as the bound itself it may not hide.
    rounding = min(1e-5 * a * np.linalg.norm(v - m) + 2e-6 * size, 0.01 * gamma * xi)
    require(np.linalg.norm(gap) <= rounding, cause, gap, "h - h' = 0")


ex_3_2 = Exercise(
    "ex_3_2",
    Function(
        "meet",
        judge=meets,
        cases={
            "two sequences that satisfy the condition, and whose pooled vectors meet": [
                Ask((0.2, 1.0)),
                Ask((0.45, 3.0)),
            ],
            "for every gamma below one half and every separation": [
                Ask((0.01, 50.0)),
                Ask((0.3, 0.001)),
                Ask(lambda d: (d.one(0.05, 0.49), d.one(0.5, 5))),
            ],
        },
    ),
    hints=(
        "Put h - h' of (14) to 0. What does it say about v - m and v' - m?",
        "They must point in the same direction. With m = 0: share * value = new_share * new_value.",
        "Take two different shares, both at least gamma and below 1, and any new_value that is "
        "long enough; the other value follows. How long is long enough for the separation?",
    ),
    afterword="No MLP of any size tells these two apart. grokkit.theory.collision() is one more.",
)

# --- 3.3 one number for all shares --------------------------------------------------------


def is_false_alarm(given, k, length, gamma):
    """Whether it is an attention that breaks B_gamma with a KL below the bound."""
    alpha = numbers(given, [length], f"An attention over T = {length} positions: a tensor [pos].")
    require(
        alpha.min() >= 0 and abs(alpha.sum() - 1) < 1e-4,
        "Shares are not negative, and sum to 1.",
        given,
    )
    require(
        alpha[:k].min() < gamma,
        "All informative shares are at least gamma: B_gamma holds. Informative are the first k. "
        "Do numbers in the code suit one gamma only?",
        given,
    )
    kl = float(theory.kl_divergence((np.arange(length) < k) / k, alpha))
    most = float(theory.delta_necessary(k, gamma))
    cause = "Let the one share fall only just below gamma, and give the rest to the others of I*."
    if alpha[:k].min() == 0:
        cause = "A share of 0 makes the KL infinite: just below gamma is enough."
    elif alpha[k:].sum() > 1e-9:
        cause = (
            "The KL is not below the bound. Some mass is on distractors: the other informative "
            "shares can use it."
        )
    elif k * gamma > 0.99:
        cause = (
            "gamma is nearly 1/k here, and the bound nearly 0: one part in a hundred below gamma "
            "is too far. How near must the share be for *any* gamma below 1/k?"
        )
    require(kl <= most, cause, given, f"a KL of at most {most:.4g}; it is {kl:.4g}")


ex_3_3 = Exercise(
    "ex_3_3",
    Function(
        "most_kl",
        right=lambda k, gamma: -math.log(k * gamma),
        cases={
            "B_gamma allows a KL of log(1 / (k gamma)), and no more": [
                Ask(
                    (3, 0.1),
                    "With all k informative shares at gamma: k terms, each "
                    "(1/k) log((1/k) / gamma).",
                ),
                Ask(lambda d: (4, d.one(0.02, 0.2)), "It depends on k and on gamma."),
                Ask((2, 0.5), "At gamma = 1/k only the oracle is left.", atol=1e-6),
            ]
        },
        mistakes={
            "The terms are summed but not weighted with 1/k.": lambda k, g: -k * math.log(k * g),
            "The oracle's 1/k is missing: this is log(1 / gamma).": lambda k, g: -math.log(g),
            "The sign: k gamma is below 1, and its logarithm below 0.": lambda k, g: math.log(
                k * g
            ),
            "Logarithm to base 2; nats need the natural one.": lambda k, g: -math.log2(k * g),
            "This is log(k / gamma): the oracle is 1/k, not k.": lambda k, g: math.log(k / g),
            "Only one share is at gamma; the most comes with all of them there.": (
                theory.delta_sufficient
            ),
        },
    ),
    Function(
        "false_alarm",
        judge=is_false_alarm,
        cases={
            "it breaks B_gamma, and its KL is below the bound all the same": Ask((2, 5, 0.05)),
            "whatever k, T and gamma": [
                Ask((4, 9, 0.01)),
                Ask((3, 4, 0.3)),
                Ask((2, 3, 0.49)),
                Ask((2, 5, 0.499999)),
                Ask(lambda d: (5, 8, d.one(0.001, 0.199))),
            ],
        },
    ),
    hints=(
        "KL is a mean over I* of log((1/k) / alpha_j). For which alpha_j >= gamma is it largest?",
        "At alpha_j = gamma for all of them; what is left goes to the distractors.",
        "To break the converse, let only one share fall below gamma, and only a little: by less "
        "than gamma itself is below 1/k. What should the other informative ones have so that the "
        "KL is as small as can be?",
    ),
    afterword="For a converse that holds see grokkit.theory.delta_sufficient.",
)

# --- 3.4 does it wait for the threshold? --------------------------------------------------


def margins(logits, targets):
    """The right logit minus the best wrong one, of each example."""
    own = targets[:, None]
    return logits.gather(1, own)[:, 0] - logits.scatter(1, own, -torch.inf).amax(dim=1)


def gamma_of(
    of=lambda logits, targets: margins(logits, targets).min().clamp(min=0),
    norm=lambda w: torch.linalg.matrix_norm(w, 2),
    c=2**0.5,
    below=lambda one, two, spread: one * two * spread,
):
    """(27) with another margin, norm, factor or denominator."""

    def answer(logits, targets, w_1, w_2, spread):
        return c * of(logits, targets) / below(norm(w_1), norm(w_2), spread)

    return answer


def classified(d, wrong=False):
    """Logits with positive margins, or with one example answered wrongly; two matrices, Delta."""
    logits = 3 * d.numbers(4, 5)
    targets = logits.argmax(dim=1)
    if wrong:
        targets[2] = logits[2].argmin()
    return logits, targets, d.numbers(3, 6), d.numbers(6, 4), d.one(0.5, 2)


def top_two(logits, targets):
    two = logits.topk(2, dim=1).values
    return (two[:, 0] - two[:, 1]).min()


def only_right(logits, targets):
    found = margins(logits, targets)
    return found[found > 0].min()


def pair_mass(
    add=lambda a, b: a + b, tried=lambda own, there, table: set(there) - {own}, stale=False
):
    """The least of `add(alpha_i, alpha'_i)` over the pairs that are tried."""

    def answer(table, tokens, position):
        at, found = range(tokens.shape[1]), []
        for row in tokens:
            there = tokens[:, position].tolist()
            for token in tried(int(row[position]), there, table):
                other = row.clone()
                other[position] = token
                a, b = (table[at, x].softmax(0)[position] for x in (row, other))
                if stale:
                    b = a * (table[position, token] - table[position, row[position]]).exp()
                found.append(add(a, b))
        return min(found).item()

    return answer


def among(most_apart):
    """Only pairs that are both among the sequences, differing in at most so many places."""

    def answer(table, tokens, position):
        alpha = [table[range(len(x)), x].softmax(0)[position] for x in tokens]
        pairs = [(i, j) for i in range(len(tokens)) for j in range(i)]
        return min(
            (alpha[i] + alpha[j]).item()
            for i, j in pairs
            if tokens[i, position] != tokens[j, position]
            and (tokens[i] != tokens[j]).sum() <= most_apart
        )

    return answer


ROWS = torch.tensor([[0, 0, 3], [0, 1, 3], [2, 1, 3], [1, 2, 3], [1, 1, 3], [1, 1, 3]])

ex_3_4 = Exercise(
    "ex_3_4",
    Function(
        "gamma_of",
        right=gamma_of(),
        cases={
            "gamma is c / (L_f Delta), from the least margin": Ask(
                classified, "c is sqrt(2) times the least margin, L_f a product of two norms."
            ),
            "where an example is answered wrongly gamma is 0": Ask(
                lambda d: classified(d, wrong=True),
                "The third example has its right logit behind: no margin.",
            ),
        },
        mistakes={
            "The matrix norm is Frobenius'; the largest singular value is matrix_norm(W, 2).": (
                gamma_of(norm=torch.linalg.matrix_norm)
            ),
            "The norm is not the largest singular value, which is matrix_norm(W, 2).": any_of(
                gamma_of(norm=lambda w: torch.linalg.matrix_norm(w, 1)),
                gamma_of(norm=lambda w: torch.linalg.matrix_norm(w, torch.inf)),
                gamma_of(norm=lambda w: torch.linalg.matrix_norm(w, "nuc")),
                gamma_of(norm=lambda w: w.abs().max()),
            ),
            "The mean margin is used; (27) needs the least one.": gamma_of(
                lambda z, y: margins(z, y).mean()
            ),
            "The largest margin is used; (27) needs the least one.": gamma_of(
                lambda z, y: margins(z, y).max()
            ),
            "c is sqrt(2) times the margin, (25).": gamma_of(c=1),
            "c is sqrt(2) times the margin, not twice.": gamma_of(c=2),
            "It is divided by L_f only; Delta is missing.": gamma_of(
                below=lambda one, two, spread: one * two
            ),
            "The two matrices' norms are added; L_f is their product.": gamma_of(
                below=lambda one, two, spread: (one + two) * spread
            ),
            "Delta belongs below the fraction line.": gamma_of(
                below=lambda one, two, spread: one * two / spread
            ),
            "The margin is that to the worst class; take the best wrong one.": gamma_of(
                lambda z, y: (z.gather(1, y[:, None])[:, 0] - z.amin(1)).min()
            ),
            "The margin is negative here, so the theorem asks for nothing: 0.": gamma_of(
                lambda z, y: margins(z, y).min()
            ),
            "The margin is the right logit minus the best other, not the best minus the second "
            "best: errors must show.": gamma_of(top_two),
            "Examples that are wrong were left out; one of them makes gamma 0.": gamma_of(
                only_right
            ),
        },
    ),
    Function(
        "least_pair_mass",
        right=pair_mass(),
        cases={
            "a pair is a sequence and the same with another token at the position": Ask(
                lambda d: (d.numbers(2, 3), torch.tensor([[0, 2], [1, 2]]), 0),
                "Two sequences, and each turns into the other one: a single pair.",
            ),
            "the rest of the sequence is kept, and every token that stands there is tried": [
                Ask(
                    lambda d: (d.numbers(3, 4) - torch.eye(4, dtype=d.dtype)[2:3] * 3, ROWS, 1),
                    "The pair need not be among the sequences: x' is x with its token at the "
                    "position exchanged for any other one that stands there in some sequence.",
                ),
                Ask(lambda d: (2 * d.numbers(3, 4), ROWS, 0), "The position is 0 here."),
            ],
        },
        mistakes={
            "A sequence was paired with itself; the two must differ at the position.": pair_mass(
                tried=lambda own, there, table: set(there)
            ),
            "This is the least single share; (27) is about two together.": pair_mass(min),
            "This is the mean of the two; (27) is about their sum.": pair_mass(
                lambda a, b: (a + b) / 2
            ),
            "A token was tried that stands there in no sequence.": pair_mass(
                tried=lambda own, there, table: set(range(table.shape[1])) - {own}
            ),
            "The attention of x' was not normalised again: its sum has changed as well.": pair_mass(
                stale=True
            ),
            "Only pairs that are both among the sequences are looked at; x' need not be.": (
                among(1)
            ),
            "The two differ in more than the position: x' must keep the rest of x.": among(9),
        },
    ),
    hints=(
        "The best wrong logit: put -inf where the right one is (`scatter`), then take the maximum.",
        "`torch.linalg.matrix_norm(W, 2)` is the largest singular value. The least margin "
        "decides, and if it is negative gamma is 0 (`clamp`).",
        "For the pairs: for each token that stands at the position, put it into *all* sequences, "
        "look the attention up again, and add it to that of the originals.",
        "Leave out sequences that had this token already: those are no pairs.",
    ),
    afterword="grokkit.diagnostics.separability measures all of it, with a Delta that is sharper.",
)

# --- 3.5 hardly ever looking --------------------------------------------------------------


def looks_seldom(given, k, length, gamma, tiny):
    """Whether (27) holds for every pair that differs in an informative bit, and B_gamma fails."""
    shape = [length + 1, 3]
    table = torch.from_numpy(
        numbers(given, shape, f"A table of scores of shape {shape} is asked for.")
    )
    require(table.isfinite().all(), "A score is no finite number.", given)
    bits = torch.cartesian_prod(*[torch.arange(2)] * length).view(-1, length)
    tokens = torch.cat([bits, torch.full((len(bits), 1), 2)], dim=1)
    alpha = table[range(length + 1), tokens].softmax(dim=1)
    order = {tuple(row.tolist()): i for i, row in enumerate(bits)}
    least = []
    for i in range(k):
        turned = bits.clone()
        turned[:, i] = 1 - turned[:, i]
        other = [order[tuple(row.tolist())] for row in turned]
        least.append((alpha[:, i] + alpha[other, i]).min())
    both, single = torch.stack(least).min(), alpha[:, :k].min()
    cause = "Make one of a bit's two tokens loud, at all informative positions alike."
    if both > 0.9 / k:
        cause = "Nearly: gamma is very near 1/k here, so everything else must be more silent yet."
    elif single > tiny:
        cause += " Neither token is loud enough to be heard beside the distractors."
    require(
        both >= gamma,
        f"(27) is broken: some pair has less than gamma together. {cause}",
        both,
        f"a sum of {gamma:g} or more in every pair",
    )
    require(
        single < tiny,
        "Every informative share is large in every sequence: B_gamma may hold. Of two sequences "
        "only *one* has to look at the bit in which they differ.",
        single,
        f"a share below {tiny:g} somewhere",
    )


ex_3_5 = Exercise(
    "ex_3_5",
    Function(
        "seldom_looks",
        judge=looks_seldom,
        cases={
            "every pair is told apart by attention that seldom looks": [
                Ask((2, 3, 0.3, 0.01)),
                Ask((3, 5, 0.2, 1e-6)),
            ],
            "for every k, length and gamma": [
                Ask((1, 4, 0.9, 1e-3)),
                Ask((3, 3, 0.333, 1e-9)),
                Ask((2, 7, 0.4999, 1e-4)),
                Ask(lambda d: (2, 4, d.one(0.05, 0.49), 1e-5)),
            ],
        },
    ),
    hints=(
        "A bit that is turned is a 1 in one of the two sequences, and a 0 in the other.",
        "So it is enough to look at ones: how much has a 1 if m of the informative bits are ones "
        "and everything else is silent?",
        "The share of a loud 1 is at least 1 / (k + the rest), where the rest is length times e^-s "
        "for a score s. How large must s be for gamma?",
    ),
    afterword="The theorem's condition is about pairs; B_gamma is a convenient way to ensure it.",
)
