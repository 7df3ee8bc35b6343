"""Wrong answers to the exercises on chapter 01."""

from tests.classroom.variant import Variant


def scaled_in_place(attention, informative):
    attention *= informative.sum()
    return -attention[informative].log().mean()


VARIANTS = {
    "ex_1_1": [
        Variant("there is an axis too many at the end", lambda m: m[..., None] / m.sum()),
        Variant("must match", lambda m: m / m.sum(dim=1), outcome="raised"),
    ],
    "ex_1_2": [
        Variant(
            "distractors have attention 0",
            lambda a, m: (m / m.sum() * (m / m.sum() / a).log()).sum(),
        ),
        Variant("sum the terms", lambda a, m: -(a[m] * m.sum()).log() / m.sum()),
        Variant("return that alone", lambda a, m: (m.sum(), -(a[m] * m.sum()).log().mean())),
        Variant("without quotes", lambda a, m: f"{-(a[m] * m.sum()).log().mean()}"),
        Variant("without the names", lambda a, m: {"KL": -(a[m] * m.sum()).log().mean()}),
        Variant("changed its argument attention", scaled_in_place),
        Variant("nothing", lambda a, m: print("", end="")),
    ],
    "ex_1_3": [
        Variant(
            "43 or 113",
            lambda s, t: sum(b * 43 + a in [c * 43 + d for c, d in s] for a, b in t) / len(t),
        ),
    ],
}
