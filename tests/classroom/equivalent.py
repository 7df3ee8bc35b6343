"""Mutants of the solutions that are right answers; see :mod:`tests.classroom.mutants`."""

CONSTRUCTION = "the exercise asks for any answer of which something holds, and it holds of this one"

_TYPE = "the same numbers in another type"
_SET = "it comes out the same, only later"

EQUIVALENT = {
    "ex_1_3": {"trained = train_pairs": _SET},
    "ex_1_4": {
        "for position in range(tokens.shape[0]):": "no two sequences agree in all positions",
        "for row, answer in zip(tokens.tolist(), targets.tolist(), strict=False):": (
            "there is an answer to each"
        ),
    },
    "ex_2_4": {
        "table = table_from_attention(tokens, attention, tokens.max() + 1)": _TYPE,
        "table = table_from_attention(tokens, attention, int(tokens.max()) + 2)": (
            "a token that never stands anywhere has no score"
        ),
        "return torch.allclose(again, attention, atol=0.000105)": "1e-4 is no sharp border",
        "return torch.allclose(again, attention, atol=9.5e-05)": "1e-4 is no sharp border",
    },
    "ex_3_4": {
        "margin = (logits.gather(1, own)[:, -1] - others).min().clamp(min=0)": "it has one column",
        "for token in tokens[:, position]:": "the same pairs, some of them twice",
        "least = min(least, both.min())": _TYPE,
    },
    "ex_5_1": {
        "if norm0 < r_max:": "for equal norms the logarithm is 0, and so is the number of steps",
    },
    "ex_5_2": {
        f"scale = radius / norm if norm > 0 else {factor}": "all are 0, whatever the factor"
        for factor in ("1.05", "0.95", "-1.0")
    },
    "ex_7_3": {
        "clip = 1.0 if norm < longest else longest / norm": "for equal lengths the factor is 1",
    },
    "ex_9_4": {
        "return sorted(order[:needed])": _TYPE,
        "couples = list(itertools.permutations(sets, 2))": "every pair twice has the same mean",
    },
    "ex_9_5": {
        "off = np.arange(2, p)": "d and p - d are equally far off, so p - 1 stands for 1",
    },
    "ex_10_1": {"if False:": "the two cases that follow give None as well if both are nan"},
    "ex_10_2": {"needed = 4 / 5 * len(outcomes)": "a whole number is above it or above its ceil"},
    "ex_10_4": {
        "for n in range(1, looks[-1] + 2):": "after the last look nobody looks",
        "after[yes] = chance * (1 - share)": "the numbers come in descending order",
        "enough = 4 / 5 * n if n in looks else math.inf": "a whole number is above both or neither",
    },
    "ex_11_1": {"return stream": "what is returned is not changed afterwards"},
    "ex_11_2": {
        "logs = np.log(np.where(average > 0, average, 2))": "it is multiplied with 0",
    },
    "ex_11_5": {
        "logs = np.log(np.where(attention > 0, attention, 2))": "it is multiplied with 0",
    },
    "ex_12_1": {
        "ahead = walk.roll(step, dims=0) - walk": "the distance to the one before, of all places",
    },
    "ex_12_2": {
        "return [(int(j), int(i)) in known for i, j in hole]": _TYPE,
        **{
            f"inside = {{(i, j) for i in range(p) for j in range(p) if i <= edge{condition}}}": (
                "square and strip have as many: that is what the exercise is about"
            )
            for condition in (
                "",
                " and j <= edge",
                " and (kind != 'strip' or j <= edge)",
                " and (kind == 'strip?' or j <= edge)",
            )
        },
    },
    "ex_12_4": {
        "for g in range(1, p):": "the powers of 1 are all 1",
        **{
            f"return min((relative_med(walk, s) for s in range({steps}) if math.gcd(s, n) == 1))": (
                "a step of 0 has a factor in common with n, and a step of n - s is that of s"
            )
            for steps in ("0, n // 2 + 1", "1, n + 1", "1, n // 2 + 2", "1, n // 1 + 1")
        },
    },
    "ex_13_1": {
        "begin, end = (values[epochs == since][-1], values[-1])": "there is one such record",
    },
    "ex_13_2": {
        "alike = (late[:, None, :] == late[:, :, None]).sum(axis=1)": "equality is symmetric",
    },
    "ex_13_3": {
        "dealt = itertools.product([ranks[0]], *[every_order] * (len(ranks) - 1))": _TYPE,
        **{
            f"return np.mean([agreement(np.array(one)) {border} for one in dealt])": (
                "it only has to lie below an equal W and above the next smaller one"
            )
            for border in (
                "> seen - 1e-09",
                ">= seen",
                ">= seen - 1.05e-09",
                ">= seen - 9.5e-10",
            )
        },
        **{
            line: "any seed has the same orders, and any may stay as it is"
            for at in ("1", "-1")
            for line in (
                f"every_order = list(itertools.permutations(ranks[{at}]))",
                f"dealt = itertools.product([tuple(ranks[{at}])], "
                "*[every_order] * (len(ranks) - 1))",
            )
        },
    },
    "ex_13_5": {
        "seeds = 0": "no seeds are too few as well",
        "seeds = 2": "luck is below 1, so it takes two seeds at least",
    },
    "ex_13_4": {
        "start = np.flatnonzero(epochs == since)[-1]": "there is one such record",
    },
}
"""By exercise: the line that was changed, as it is now, and why the answer stays right."""
