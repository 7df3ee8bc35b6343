"""Checks of the exercises on chapter 03: two pooled vectors, bounds that fail, gamma measured."""

import math
from typing import Any

import numpy as np
import torch

from grokkit import theory
from grokkit.classroom.checks.exercise import Exercise
from grokkit.classroom.checks.expect import Wrong, any_of, as_array, expect, require

# --- 3.1 exchange one token ---------------------------------------------------------------

ex_3_1 = Exercise(
    "ex_3_1",
    answers=("exchange",),
    hints=(
        "h is a mixture of two points: the old token, and the centroid m of all the others.",
        "h = share * value + (1 - share) * m. Solve for m.",
        "All others keep their proportions, so m is the same afterwards: mix it with the new "
        "token, and give it what the new share leaves.",
    ),
    afterword="Written as h - h' it is (14).",
)

# Three values of two numbers; the exchanged token is not the centroid of the others.
SHARE, REST = 0.5, torch.tensor([0.3, 0.2])
VALUE, OTHERS = torch.tensor([2.0, -1.0]), torch.tensor([[1.0, 3.0], [-2.0, 0.5]])
H = SHARE * VALUE + REST @ OTHERS
CENTROID = REST @ OTHERS / (1 - SHARE)


@ex_3_1.property("with the same share, only the value is exchanged")
def _(exchange):
    new = torch.tensor([0.0, 4.0])
    expect(
        exchange(H, SHARE, VALUE, SHARE, new),
        H + SHARE * (new - VALUE),
        cause="All others have what they had. The new token takes the place of the old one, "
        "weighted with its share.",
        mistakes={
            "This is h - h', the closed form (14); the question is for h' itself.": (
                SHARE * (VALUE - new)
            ),
            "The values are exchanged without their share of attention.": H - VALUE + new,
            "The old token is still in it: take it out of h first.": H + SHARE * new,
            **_rest_mistakes(SHARE, new),
            **_sign_mistakes(SHARE, new),
        },
    )


@ex_3_1.property("with another share, all other tokens shrink or grow by one factor")
def _(exchange):
    share = 0.2
    right = share * VALUE + (1 - share) * CENTROID
    expect(
        exchange(H, SHARE, VALUE, share, VALUE),
        right,
        cause="The centroid of the others is the same point m in both sequences, (13). Its "
        "weight is what the token leaves: 1 - share before, 1 - new_share afterwards.",
        mistakes={
            **_rest_mistakes(share, VALUE),
            "Old and new are the wrong way round: h has the old token in it.": (
                SHARE * VALUE + (1 - SHARE) * (H - share * VALUE) / (1 - share)
            ),
            "This is h - h', the closed form (14); the question is for h' itself.": H - right,
            **_sign_mistakes(share, VALUE),
        },
    )


def _rest_mistakes(share: float, value: torch.Tensor) -> dict[str, torch.Tensor]:
    """What is wrong if the part of all others comes out like this."""
    rest, own = H - SHARE * VALUE, share * value
    wrong = {
        "The rest is not divided by what it had, 1 - share: that is how it becomes a "
        "centroid.": rest * (1 - share),
        "The rest has become a centroid and is not yet weighted with 1 - new_share.": CENTROID,
    }
    if share != SHARE:
        wrong |= {
            "The others keep their old shares, so that all no longer sum to 1; they are "
            "rescaled by c = (1 - new_share) / (1 - share), (12).": rest,
            "The factor c of (12) is upside down.": rest * (1 - SHARE) / (1 - share),
        }
    return {sentence: own + part for sentence, part in wrong.items()}


def _sign_mistakes(share: float, value: torch.Tensor) -> dict[str, Any]:
    """What comes out with a sign turned, or with h in the place of m."""
    right = share * value + (1 - share) * CENTROID
    return {
        "h was taken for m: h has the old token in it, m is the centroid of all others.": any_of(
            share * value + (1 - share) * H,
            *([H - SHARE * (VALUE - H) + share * (value - H)] if share != SHARE else []),
        ),
        "A sign: from m the pooled vector goes *towards* the token, not away from it.": (
            2 * CENTROID - right
        ),
        "(14) is h - h'. To get h' take it from h; here it was added.": 2 * H - right,
        "This is h' - h, the change; the question is for h' itself.": right - H,
    }


@ex_3_1.property("both at once, and a token that gets no attention")
def _(exchange):
    new = torch.tensor([-1.0, 0.5])
    for share in (0.7, 0.0):
        expect(
            exchange(H, SHARE, VALUE, share, new),
            share * new + (1 - share) * CENTROID,
            cause="The old value goes with the old share, the new value with the new one.",
            mistakes={
                "The old value is still in it, with the new share.": (
                    share * VALUE + (1 - share) * CENTROID
                ),
                **_sign_mistakes(share, new),
            },
        )


# --- 3.2 a bound that does not hold -------------------------------------------------------

ex_3_2 = Exercise(
    "ex_3_2",
    answers=("meet",),
    hints=(
        "Put h - h' of (14) to 0. What does it say about v - m and v' - m?",
        "They must point in the same direction. With m = 0: share * value = new_share * new_value.",
        "Take two different shares, both at least gamma and below 1, and any new_value that is "
        "long enough; the other value follows. How long is long enough for the separation?",
    ),
    afterword="No MLP of any size tells these two apart. grokkit.theory.collision() is one more.",
)


@ex_3_2.property("it is a pair as asked for: two shares, two values, a centroid")
def _(meet):
    gamma, xi = 0.2, 1.0
    _pair(meet(gamma, xi), gamma, xi)


@ex_3_2.property("the two pooled vectors meet")
def _(meet):
    a, b, v, w, m = _pair(meet(0.2, 1.0), 0.2, 1.0)
    gap = theory.pooled_difference(a, b, v, w, m)
    scale = a * np.linalg.norm(v - m)
    if np.linalg.norm(gap) > 1e-5 * max(scale, 1e-12):
        if abs(a - b) < 1e-9:
            cause = (
                "With equal shares h - h' is share * (v - v'), which is not 0. Give the nearer "
                "of the two values the larger share."
            )
        elif np.allclose(b * (v - m), a * (w - m), rtol=1e-5):
            cause = (
                "The shares are the wrong way round: the longer v - m needs the *smaller* share."
            )
        elif np.allclose(a * v, b * w, rtol=1e-5):
            cause = "The values are measured from 0; (14) measures them from the centroid m."
        else:
            cause = "By (14), alpha_i (v - m) and alpha'_i (v' - m) must be the same vector."
        raise Wrong(cause=cause, note=f"h - h' = {gap.round(4).tolist()}")


@ex_3_2.property("for every gamma below one half and every separation")
def _(meet):
    for gamma, xi in ((0.45, 3.0), (0.01, 50.0), (0.3, 0.001)):
        a, b, v, w, m = _pair(meet(gamma, xi), gamma, xi)
        gap = theory.pooled_difference(a, b, v, w, m)
        require(
            np.linalg.norm(gap) <= 1e-5 * a * np.linalg.norm(v - m),
            "These do not meet: are numbers in the code that suit one gamma or xi only?",
            got=gap,
            want="h - h' = 0",
        )


def _pair(given, gamma: float, xi: float):
    """The learner's pair as numbers and arrays, if it satisfies the condition."""
    require(
        isinstance(given, tuple | list) and len(given) == 5,
        "Five things are asked for: two shares, two values, the centroid.",
        got=given,
    )
    arrays = [as_array(part) for part in given]
    parts = [p for p in arrays if p is not None and p.dtype.kind in "iuf"]
    require(
        len(parts) == 5
        and parts[0].size == parts[1].size == 1
        and parts[2].shape == parts[3].shape == parts[4].shape
        and parts[2].ndim == 1,
        "The shares are two numbers; the values and the centroid are three tensors [embed].",
        got=given,
    )
    a, b = (float(p.ravel()[0]) for p in parts[:2])
    v, w, m = (p.astype(float) for p in parts[2:])
    for name, share in (("alpha_i", a), ("alpha'_i", b)):
        shown = {name: share}
        require(share < 1, f"{name} must leave something for the other tokens: below 1.", shown)
        require(
            share >= gamma - 1e-9,
            f"{name} is below gamma: B_gamma is broken.",
            got=shown,
            want=f"{name} of at least gamma = {gamma:g}",
        )
    apart = float(np.linalg.norm(v - w))
    require(
        apart >= xi * (1 - 1e-6),
        "The two values are closer than the separation xi: the condition is not met, so the "
        "bound promises nothing here.",
        got={"v_i": v, "v'_i": w},
        want=f"values that are at least {xi:g} apart; these are {apart:.4g} apart",
    )
    return a, b, v, w, m


# --- 3.3 one number for all shares --------------------------------------------------------

ex_3_3 = Exercise(
    "ex_3_3",
    answers=("most_kl", "false_alarm"),
    hints=(
        "KL is a mean over I* of log((1/k) / alpha_j). For which alpha_j >= gamma is it largest?",
        "At alpha_j = gamma for all of them; what is left goes to the distractors.",
        "To break the converse, let only one share fall below gamma, and only a little. What "
        "should the other informative ones have so that the KL is as small as can be?",
    ),
    afterword="For a converse that holds see grokkit.theory.delta_sufficient.",
)


@ex_3_3.property("B_gamma allows a KL of log(1 / (k gamma)), and no more")
def _(most_kl, _false_alarm):
    k, gamma = 3, 0.1
    expect(
        most_kl(k, gamma),
        math.log(1 / 0.3),
        cause="With all k informative shares at gamma: k terms, each (1/k) log((1/k) / gamma).",
        mistakes={
            "The terms are summed but not weighted with 1/k.": 3 * math.log(1 / 0.3),
            "The oracle's 1/k is missing: this is log(1 / gamma).": math.log(10),
            "The sign: k gamma is below 1, and its logarithm below 0.": math.log(0.3),
            "Logarithm to base 2; nats need the natural one.": math.log2(1 / 0.3),
            "This is log(k / gamma): the oracle is 1/k, not k.": math.log(30),
            "Only one share is at gamma; the most comes with all of them there.": (
                theory.delta_sufficient(3, 0.1)
            ),
        },
    )
    expect(most_kl(2, 0.5), 0.0, atol=1e-6, cause="At gamma = 1/k only the oracle is left.")


@ex_3_3.property("the false alarm is an attention of T shares")
def _(_most_kl, false_alarm):
    _alarm(false_alarm, 2, 5, 0.05)


@ex_3_3.property("it breaks B_gamma")
def _(_most_kl, false_alarm):
    alpha = _alarm(false_alarm, 2, 5, 0.05)
    require(
        alpha[:2].min() < 0.05,
        "All informative shares are at least gamma: B_gamma holds. Informative are the first k.",
        got=alpha,
    )


@ex_3_3.property("its KL is below the bound all the same")
def _(_most_kl, false_alarm):
    alpha = _alarm(false_alarm, 2, 5, 0.05)
    _below(alpha, 2, 0.05)


@ex_3_3.property("whatever k, T and gamma")
def _(_most_kl, false_alarm):
    for k, length, gamma in ((4, 9, 0.01), (3, 4, 0.3), (2, 3, 0.49)):
        alpha = _alarm(false_alarm, k, length, gamma)
        require(
            alpha[:k].min() < gamma,
            "B_gamma holds here: are numbers in the code that suit one gamma only?",
            got=alpha,
        )
        _below(alpha, k, gamma)


def _alarm(false_alarm, k: int, length: int, gamma: float) -> np.ndarray:
    given = false_alarm(k, length, gamma)
    alpha = as_array(given)
    require(
        alpha is not None and alpha.shape == (length,),
        f"An attention over T = {length} positions: a tensor [pos].",
        got=given,
    )
    alpha = np.asarray(alpha, dtype=float)
    require(
        alpha.min() >= 0 and abs(alpha.sum() - 1) < 1e-4,
        "Shares are not negative, and sum to 1.",
        got=given,
    )
    return alpha


def _below(alpha: np.ndarray, k: int, gamma: float) -> None:
    informative = np.arange(len(alpha)) < k
    kl = float(theory.kl_divergence(informative / k, alpha))
    most = float(theory.delta_necessary(k, gamma))
    cause = "Let the one share fall only just below gamma, and give the rest to the others of I*."
    if alpha[k:].sum() > 1e-9:
        cause = (
            "The KL is not below the bound. Some mass is on distractors: the other informative "
            "shares can use it."
        )
    elif alpha[:k].min() == 0:
        cause = "A share of 0 makes the KL infinite: just below gamma is enough."
    require(kl <= most, cause, got=alpha, want=f"a KL of at most {most:.4g}; it is {kl:.4g}")


# --- 3.4 does it wait for the threshold? --------------------------------------------------

ex_3_4 = Exercise(
    "ex_3_4",
    answers=("gamma_of", "least_pair_mass"),
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

# Largest singular values 3 and 2, Frobenius norms 3.74 and 2.24.
W_1 = torch.tensor([[3.0, 0, 0, 0], [0, 2.0, 0, 0], [0, 0, 1.0, 0]])
W_2 = torch.tensor([[0, 2.0, 0], [1.0, 0, 0], [0, 0, 0], [0, 0, 0]])
LOGITS = torch.tensor([[1.0, 5.0, 2.0], [9.0, 2.0, 1.0], [0.0, -4.0, 1.5]])
RIGHT = torch.tensor([1, 0, 2])
STALE = "The attention of x' was not normalised again: its sum has changed as well."


@ex_3_4.property("gamma is c / (L_f Delta), from the least margin")
def _(gamma_of, _least):
    root, scale = math.sqrt(2), 6 * 0.7
    frobenius = torch.linalg.matrix_norm(W_1) * torch.linalg.matrix_norm(W_2) * 0.7
    expect(
        gamma_of(LOGITS, RIGHT, W_1, W_2, 0.7),
        root * 1.5 / scale,
        cause="The margins are 3, 7 and 1.5, the largest singular values 3 and 2.",
        mistakes={
            "The matrix norm is Frobenius'; the largest singular value is matrix_norm(W, 2).": root
            * 1.5
            / frobenius,
            "The mean margin is used; (27) needs the least one.": root * 11.5 / 3 / scale,
            "The largest margin is used; (27) needs the least one.": root * 7 / scale,
            "c is sqrt(2) times the margin, (25).": 1.5 / scale,
            "c is sqrt(2) times the margin, not twice.": 2 * 1.5 / scale,
            "It is divided by L_f only; Delta is missing.": root * 1.5 / 6,
            "The two matrices' norms are added; L_f is their product.": root * 1.5 / 5 / 0.7,
            "Delta belongs below the fraction line.": root * 1.5 / 6 * 0.7,
            "The margin is that to the worst class; take the best wrong one.": root * 4 / scale,
        },
    )


@ex_3_4.property("where an example is answered wrongly gamma is 0")
def _(gamma_of, _least):
    wrong = torch.tensor([1, 2, 2])
    expect(
        gamma_of(LOGITS, wrong, W_1, W_2, 0.7),
        0.0,
        cause="The second example has its right logit behind: no margin.",
        mistakes={
            "The margin is negative here, so the theorem asks for nothing: 0.": (
                -math.sqrt(2) * 8 / 4.2
            ),
            "The margin is the right logit minus the best other, not the best minus the second "
            "best: errors must show.": math.sqrt(2) * 1.5 / 4.2,
            "Examples that are wrong were left out; one of them makes gamma 0.": (
                math.sqrt(2) * 1.5 / 4.2
            ),
        },
    )


@ex_3_4.property("a pair is a sequence and the same with another token at the position")
def _(_gamma_of, least):
    table = torch.tensor([[1.0, -2.0, 0.0], [0.0, 0.0, 0.5]], dtype=torch.float64)
    tokens = torch.tensor([[0, 2], [1, 2]])
    a, b, c = (float(theory.softmax(np.array([one, 0.5]))[0]) for one in (1.0, -2.0, 0.0))
    expect(
        least(table, tokens, 0),
        a + b,
        cause="Two sequences, and each turns into the other one: a single pair.",
        mistakes={
            "A sequence was paired with itself; the two must differ at the position.": 2 * b,
            "This is the least single share; (27) is about two together.": b,
            "This is the mean of the two; (27) is about their sum.": (a + b) / 2,
            "A token was tried that stands there in no sequence.": b + c,
            STALE: _stale(table.numpy(), tokens.numpy(), 0),
        },
    )


@ex_3_4.property("the rest of the sequence is kept, and every token that stands there is tried")
def _(_gamma_of, least):
    table = torch.tensor(
        [[0.3, -1.0, 2.0, 9.0], [2.5, 0.0, -1.5, -3.0], [9.0, 9.0, 9.0, 0.2]], dtype=torch.float64
    )
    tokens = torch.tensor([[0, 0, 3], [0, 1, 3], [2, 1, 3], [1, 2, 3], [1, 1, 3], [1, 1, 3]])
    expect(
        least(table, tokens, 1),
        _brute(table.numpy(), tokens.numpy(), 1, [0, 1, 2]),
        cause="The pair need not be among the sequences: x' is x with its token at the position "
        "exchanged for any other one that stands there in some sequence.",
        mistakes={
            "Only pairs that are both among the sequences are looked at; x' need not be.": (
                _among(table.numpy(), tokens.numpy(), 1)
            ),
            "A token was tried that stands there in no sequence.": (
                _brute(table.numpy(), tokens.numpy(), 1, [0, 1, 2, 3])
            ),
            "The two differ in more than the position: x' must keep the rest of x.": (
                _loose(table.numpy(), tokens.numpy(), 1)
            ),
            STALE: _stale(table.numpy(), tokens.numpy(), 1),
        },
    )


def _share(table: np.ndarray, row: np.ndarray, position: int) -> float:
    return float(theory.softmax(table[np.arange(len(row)), row])[position])


def _brute(table: np.ndarray, tokens: np.ndarray, position: int, tried: list[int]) -> float:
    found = []
    for row in tokens:
        for token in tried:
            if token != row[position]:
                other = row.copy()
                other[position] = token
                found.append(_share(table, row, position) + _share(table, other, position))
    return min(found)


def _pairs(table: np.ndarray, tokens: np.ndarray, position: int, most: int) -> float:
    """The least sum over pairs of the given sequences that differ in at most so many places."""
    return min(
        (
            _share(table, x, position) + _share(table, y, position)
            for x in tokens
            for y in tokens
            if x[position] != y[position] and (x != y).sum() <= most
        ),
        default=math.inf,
    )


def _among(table: np.ndarray, tokens: np.ndarray, position: int) -> float:
    return _pairs(table, tokens, position, 1)


def _loose(table: np.ndarray, tokens: np.ndarray, position: int) -> float:
    return _pairs(table, tokens, position, tokens.shape[1])


def _stale(table: np.ndarray, tokens: np.ndarray, position: int) -> float:
    """With the sum of x under the exponential of x'."""
    found = []
    for row in tokens:
        weights = np.exp(table[np.arange(len(row)), row])
        for token in {*tokens[:, position].tolist()} - {int(row[position])}:
            found.append((weights[position] + np.exp(table[position, token])) / weights.sum())
    return float(min(found))
