"""Wrong answers to the exercises on chapter 11."""

from tests.classroom.variant import Variant


def ahead(arrived, grokked, share=0.9):
    return (arrived <= share * grokked).sum(axis=1)


def late(grokked):
    return 2 * grokked


def early(grokked):
    return grokked.min(axis=0) ** 2 / (2 * grokked)


VARIANTS = {
    "ex_11_4": [
        Variant("`share` says", lambda a, g, share=0.9: ahead(a, g, 0.9), late, early),
        Variant("measure is ahead", ahead, lambda g: g / 2, early),
        Variant("not that of the groks", ahead, lambda g: 0 * g + 2 * g.max(), early),
        Variant("above 0", ahead, late, lambda g: -g),
        Variant("0.9 of the first grok", ahead, late, lambda g: g.max(0) ** 2 / g),
        Variant("not the opposite", ahead, late, lambda g: g / 2),
        Variant("a table of", ahead, late, lambda g: g.min()),
    ],
}
