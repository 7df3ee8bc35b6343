"""Wrong answers to the exercises on chapter 08."""

import torch

from tests.classroom.variant import Variant


def opposite(shares, separation):
    """Plus and minus in turn, each divided by its share."""
    sign = torch.tensor([(-1.0) ** i for i in range(len(shares))])
    change = (separation * sign * shares.max() / shares)[:, None]
    return change, 0 * change


def unweighted(shares, separation):
    change = torch.full((len(shares), 1), float(separation))
    change[0] = -(len(shares) - 1) * separation
    return change, 0 * change


def too_close(shares, separation):
    change = (separation / shares)[:, None] * shares.min()
    change[0] *= 1 - len(shares)
    return change, 0 * change


def only_two(shares, separation):
    change = torch.zeros(len(shares), 1)
    change[0], change[1] = separation / shares[0], -separation / shares[1]
    return change, 0 * change


def hinge(a, on, gamma):
    broken = on & (a < gamma)
    return broken.sum() * a - broken.to(a)


def starving(a, on, gamma):
    """The gradient of the sum of gamma - alpha_j."""
    broken = (on & (a < gamma)).to(a)
    return -a * (broken - (broken * a).sum())


def by_attention(a, on, gamma):
    """The derivative of the hinge with respect to the attention."""
    return -(on & (a < gamma)).to(a) / a


def helps_the_best(a, on, gamma):
    best = torch.where(on, a, 0.0) == torch.where(on, a, 0.0).max()
    return (a - best.to(a)) * (on & (a < gamma)).any()


def by_mean(a, on, gamma):
    return (a - on / on.sum()) * (a[on].mean() < gamma)


def by_place(a, on, gamma):
    return hinge(a, on, gamma) * (1 + (a[0] < a[1]))


VARIANTS = {
    "ex_8_3": [
        Variant("for any number of heads", opposite),
        Variant("share times change", unweighted),
        Variant("largest share", too_close),
        Variant("closer than xi", only_two),
        Variant("tensors [head, embed]", lambda s, x: (torch.ones(2), torch.zeros(2))),
    ],
    "ex_8_4": [
        Variant("insists on 1/k", lambda a, on, g: a - on / on.sum()),
        Variant("and yet it pulls", lambda a, on, g: a * (a.log() - (a * a.log()).sum())),
        Variant("by the *attention*", by_attention),
        Variant("a gradient points uphill", lambda a, on, g: -hinge(a, on, g)),
        Variant("starves", starving),
        Variant("so help that one", helps_the_best),
        Variant("compare each one", by_mean),
        Variant("in another order", by_place),
    ],
}
