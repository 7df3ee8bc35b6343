"""Wrong answers to the exercises on chapter 11."""

import numpy as np

from tests.classroom.variant import Variant


def norm(x, eps=0.0):
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + eps)


NORMED = {
    "none": (0, 0, 0),
    "A*": (1, 1, 0),
    "A^qk": (1, 0, 0),
    "A^v": (0, 1, 0),
    "M": (0, 0, 1),
    "M+A*": (1, 1, 1),
}


def reads(x, y, placement):
    a, b, c = NORMED[placement]
    return norm(x) if a else x, norm(x) if b else x, norm(y) if c else y


def swapped(x, y, placement):
    a, b, c = reads(x, y, placement)
    return b, a, c


def also_mlp(x, y, placement):
    a, b, c = reads(x, y, placement)
    return a, b, norm(y) if "^" in placement else c


def entropy(p, axis=-1):
    return -(p * np.log(np.where(p > 0, p, 1))).sum(axis=axis)


def of_map(attention):
    return entropy(attention.mean(axis=1)).mean()


def rank(features, power=2):
    strength = np.linalg.svd(features, compute_uv=False) ** power
    return np.exp(entropy(strength / strength.sum()))


def participation(features):
    z = np.linalg.svd(features, compute_uv=False) ** 2
    return z.sum() ** 2 / (z**2).sum()


def stable(features):
    z = np.linalg.svd(features, compute_uv=False) ** 2
    return z.sum() / z.max()


def step(a, rate, x, residual, optimizer):
    gradient = a * residual * x
    return -a * rate * (gradient if optimizer == "sgd" else np.sign(gradient)) @ x


def weights_only(a, rate, x, residual, optimizer):
    return step(a, rate, x, residual, optimizer) / a


def sign_of_residual(a, rate, x, residual, optimizer):
    if optimizer == "sgd":
        return step(a, rate, x, residual, optimizer)
    return -a * rate * np.sign(residual) * (x @ x)


def pace(a, rate, optimizer):
    return rate / a ** (2 if optimizer == "sgd" else 1)


def ahead(arrived, grokked, share=0.9):
    return (arrived <= share * grokked).sum(axis=1)


def late(grokked):
    return 2 * grokked


def early(grokked):
    return grokked.min(axis=0) ** 2 / (2 * grokked)


VARIANTS = {
    "ex_11_1": [
        Variant("all rows together", lambda x, e: (x - x.mean()) / np.sqrt(x.var() + e), reads),
        Variant("BatchNorm", lambda x, e: (x - x.mean(0)) / np.sqrt(x.var(0) + e), reads),
        Variant("d - 1", lambda x, e: norm(x) * np.sqrt(1 - 1 / x.shape[1]), reads),
        Variant(
            "by the standard deviation",
            lambda x, e: norm(x, e) / np.sqrt(x.var(1, keepdims=True) + e),
            reads,
        ),
        Variant("mean is not subtracted", lambda x, e: x / x.std(1, keepdims=True), reads),
        Variant("length 1", lambda x, e: norm(x) / x.shape[1] ** 0.5, reads),
        Variant("not divided", lambda x, e: x - x.mean(1, keepdims=True), reads),
        Variant("eps is ignored", lambda x, e: norm(x), reads),
        Variant(
            "after the root",
            lambda x, e: (x - x.mean(1, keepdims=True)) / (x.std(1, keepdims=True) + e),
            reads,
        ),
        Variant("it reads y", norm, lambda x, y, name: reads(x, x, name)),
        Variant("exchanged", norm, swapped),
        Variant("everything reads a norm", norm, lambda x, y, name: reads(x, y, "M+A*")),
        Variant("nothing reads a norm", norm, lambda x, y, name: reads(x, y, "none")),
        Variant("the MLP is wrong", norm, also_mlp),
    ],
    "ex_11_2": [
        Variant("mean of the heads' entropies", lambda a: entropy(a).mean(), rank),
        Variant("only heads should be", lambda a: entropy(a.mean(axis=(0, 1))), rank),
        Variant("in place of the heads", lambda a: entropy(a.mean(axis=0)).mean(), rank),
        Variant("take their mean", lambda a: entropy(a.mean(axis=1)).sum(), rank),
        Variant("minus is missing", lambda a: -of_map(a), rank),
        Variant("in bits", lambda a: of_map(a) / np.log(2), rank),
        Variant("do not sum to 1", lambda a: entropy(a.sum(axis=1)).mean(), rank),
        Variant("take e to its power", of_map, lambda h: np.log(rank(h))),
        Variant("not centred", of_map, lambda h: rank(h - h.mean(axis=0))),
        Variant("squares", of_map, lambda h: rank(h, 1)),
        Variant("squared once more", of_map, lambda h: rank(h, 4)),
        Variant("participation ratio", of_map, participation),
        Variant("stable rank", of_map, stable),
        Variant("however weak", of_map, lambda h: float(np.linalg.matrix_rank(h))),
    ],
    "ex_11_3": [
        Variant("against the gradient", lambda *given: -step(*given), pace),
        Variant("stands in both", weights_only, pace),
        Variant("step of `sign`", lambda a, r, x, e, o: step(a, r, x, e, "sign"), pace),
        Variant("step of `sgd`", lambda a, r, x, e, o: step(a, r, x, e, "sgd"), pace),
        Variant("residual is missing", lambda a, r, x, e, o: step(a, r, x, 1.0, o), pace),
        Variant("learning rate is missing", lambda a, r, x, e, o: step(a, 1.0, x, e, o), pace),
        Variant("of the residual alone", sign_of_residual, pace),
        Variant("other way round", step, lambda a, r, o: pace(1 / a, r, o)),
        Variant("only one is left", step, lambda a, r, o: r / a**2),
        Variant("SGD feels a twice", step, lambda a, r, o: r / a),
        Variant("does not depend on a", step, lambda a, r, o: r),
    ],
    "ex_11_4": [
        Variant("share of 0.9", lambda a, g, share=1.0: ahead(a, g, 1.0), late, early),
        Variant("use <=", lambda a, g, share=0.9: (a < share * g).sum(1), late, early),
        Variant("did not come", lambda a, g, share=0.9: (~(a > share * g)).sum(1), late, early),
        Variant("where the measure is late", lambda a, g, s=0.9: (a > s * g).sum(1), late, early),
        Variant("for each seed", lambda a, g, share=0.9: (a <= share * g).sum(0), late, early),
        Variant("count them", lambda a, g, share=0.9: (a <= share * g).mean(1), late, early),
        Variant("for each", lambda a, g, share=0.9: (a <= share * g).sum(), late, early),
        Variant("`share` says", lambda a, g, share=0.9: ahead(a, g, 0.9), late, early),
        Variant("measure is ahead", ahead, lambda g: g / 2, early),
        Variant("not that of the groks", ahead, lambda g: 0 * g + 2 * g.max(), early),
        Variant("above 0", ahead, late, lambda g: -g),
        Variant("seed's first grok", ahead, late, lambda g: g.max(0) ** 2 / g),
        Variant("not the opposite", ahead, late, lambda g: g / 2),
        Variant("a table of", ahead, late, lambda g: g.min()),
    ],
}
