"""Checks of the exercises on chapter 10: censoring, verdicts, a grid with its control, peeking."""

import math

import numpy as np

from grokkit.classroom.checks.exercise import Ask, Exercise, each
from grokkit.classroom.checks.expect import alike, any_of, as_array, as_floats, require
from grokkit.engine import RunSpec, presets

LIVE = presets["live"]

# --- 10.1 which of two came first ---------------------------------------------------------

NAN = math.nan


def sooner(mine, my_last, its, its_last, factor):
    """The package's own answer for one seed."""
    from grokkit.experiments.times import Times

    pairs = [[mine, my_last], [its, its_last]]
    one, other = (Times(*np.array(pair, dtype=float)[:, None]) for pair in pairs)
    return one.sooner(other, factor)[0]


def known(case, cause):
    """A case in which None is no forgotten `return`, but an answer that is wrong."""
    return Ask(case, cause, {cause: None})


def says_yes_no_or_nothing(got, *case):
    array = as_array(got)
    cause = "Return True, False or None. 1 and 0 are numbers: `found is True` is false of them."
    require(array is None or array.dtype.kind == "b", cause, got)


ex_10_1 = Exercise.of(
    "came_sooner",
    right=sooner,
    form=says_yes_no_or_nothing,
    cases={
        "if both came, the epochs decide": [
            Ask((300, 1000, 500, 1000, 1.0), "300 is sooner than 500."),
            Ask((500, 1000, 300, 1000, 1.0), "500 is later than 300."),
            Ask((400, 1000, 500, 1000, 0.8), "It had time until 0.8 x 500 = 400."),
            Ask((550, 1000, 500, 1000, 1.2), "It had time until 1.2 x 500 = 600."),
        ],
        "if neither came, nothing can be said": [
            Ask((NAN, 500, NAN, 1000, 1.0), "Neither came: None. (nan <= nan is False.)"),
            Ask((NAN, 1000, NAN, 500, 0.5), "Neither came: None, whoever was stopped first."),
        ],
        "if the other one is censored, it came after its last epoch, if ever": [
            known((300, 1000, NAN, 1000, 1.0), "Mine came at 300, the other not by 1000."),
            Ask((900, 1000, NAN, 1000, 0.8), "It has time until somewhere beyond 800."),
            known((800, 1000, NAN, 1000, 0.8), "It has time until somewhere beyond 800."),
            Ask((900, 1000, NAN, 600, 1.0), "The other may have come at 700, or at 5000."),
        ],
        "if mine is censored, it came after my last epoch, if ever": [
            known((NAN, 1000, 700, 1000, 1.0), "Mine had not come by 1000, so not by 700."),
            Ask((NAN, 500, 700, 1000, 1.0), "Mine may have come at 600, or at 5000."),
            known((NAN, 560, 700, 1000, 0.8), "Mine had time until 0.8 x 700 = 560."),
        ],
    },
    hints=(
        "Four cases: both came, only one did (two cases), neither did. `math.isnan(epoch)` asks.",
        "Only the other is censored: its epoch lies beyond its last. Where must mine be for a yes?",
        "Only mine is censored: it lies beyond my last. When is that a no for certain?",
    ),
    afterword="In grokkit: Times.sooner in grokkit.experiments.times, for all seeds at once.",
)

# --- 10.2 the verdict ---------------------------------------------------------------------

T, F, U = True, False, None
YES, NO, OPEN = [T] * 5, [F] * 5, [U] * 5
WORDS = ("reproduced", "partly", "not reproduced", "undecided")


def verdict(parts):
    """The package's own verdict."""
    from grokkit.experiments.claims import Part, verdict_of

    return verdict_of([Part("", tuple(one), "") for one in parts])


def one_of_the_words(got, parts):
    said = f"The answer is to be one of the words {', '.join(map(repr, WORDS))}, as they stand."
    require(got is None or got in WORDS, said, got)


ex_10_2 = Exercise.of(
    "verdict",
    right=verdict,
    form=one_of_the_words,
    cases={
        "of five seeds four are needed": each(*(([[T] * n + [F] * (5 - n)],) for n in range(6))),
        "a seed that does not tell is neither a yes nor a no": [
            Ask(([[T, T, T, U, F]],), "Three say yes; with the open one it might be four."),
            Ask(([[T, T, U, F, F]],), "Two say yes; with the open one it might be three."),
            Ask(([[T, T, T, T, U]],), "Four say yes, whatever the fifth would say."),
        ],
        "needed are four fifths of the seeds, rounded up": [
            Ask(([[T] * 8 + [F] * 2],), "Of 10 seeds 8 are needed."),
            Ask(([[T] * 7 + [F] * 3],), "Of 10 seeds 8 are needed."),
            Ask(([[T, T, F]],), "Of 3 seeds 3 are needed: four fifths are 2.4."),
            Ask(([[T] * 4 + [F] * 2],), "Of 6 seeds 5 are needed: four fifths are 4.8."),
            Ask(([[T] * 6 + [F, U]],), "Of 8 seeds 7 are needed: four fifths are 6.4."),
        ],
        "each part is judged by itself, and then all parts": [
            Ask(([YES, YES],), "Every part holds."),
            Ask(([YES, NO],), "One part holds and one fails."),
            Ask(([NO, NO],), "Both parts fail."),
            Ask(([YES, OPEN],), "None fails, and not all hold."),
            Ask(([NO, OPEN],), "One fails, none holds, whatever the open one."),
            Ask(([YES, NO, OPEN],), "One holds and one fails, whatever the open one."),
            Ask(([[T, T, F, F, F], YES],), "The first part fails, the second holds."),
        ],
    },
    hints=(
        "First one part: count True, count None, and what is needed, 4/5 of n rounded up.",
        "It holds with enough True; it fails if True and None together are too few; or it is open.",
        "Then the claim: all hold? Else, does any fail? Then, does any hold? (None is not False.)",
    ),
    afterword="In grokkit: Part.holds and verdict_of in grokkit.experiments.claims.",
)

# --- 10.3 a grid with its control ---------------------------------------------------------

ARMS = {
    "baseline": {"kl_strength": 0.0, "penalty_gradient": "true"},
    "prior": {"penalty_gradient": "true"},
    "noise": {"penalty_gradient": "noise"},
    "shuffled": {"penalty_gradient": "shuffled"},
}
CAUSES = {
    "kl_strength": "A baseline has no prior, even if base has one. The others have it at the given "
    "strength: a stand-in needs a gradient to stand in for.",
    "penalty_gradient": "This makes a control a control, and the prior a prior. A baseline keeps "
    "what base has.",
}


def is_the_experiment(given, base, strength, seeds):
    """Whether it has four arms, paired by seed, that differ in what their names say alone."""
    names = f"The answer is to be a dict with the names {', '.join(ARMS)}."
    require(isinstance(given, dict) and given.keys() == ARMS.keys(), names, given)
    for name, specs in given.items():
        listed = isinstance(specs, list | tuple) and all(isinstance(s, RunSpec) for s in specs)
        require(listed, f"{name} is to be a list of specs: a RunSpec for every seed.", specs)
        found = [spec.seed for spec in specs]
        cause = f"{name} is to have the given seeds, so that a seed has the same data in every arm."
        require(found == list(seeds), cause, found, str(seeds))
        for spec in specs:
            change = {"prior": "kl", "kl_strength": strength, **ARMS[name], "seed": spec.seed}
            asked, found = base.with_(**change).settings(), spec.settings()
            own = base.settings()["penalty_gradient"]
            if name == "baseline" and found.get("penalty_gradient") == own:
                asked["penalty_gradient"] = own  # without a prior it is of no account
            for setting in {**CAUSES, **asked, **found}:
                got, want = found.get(setting), asked.get(setting)
                cause = CAUSES.get(setting, "Begin every arm from base: nothing else may differ.")
                said = f"{name} has {setting} = {got!r}, not {want!r}. {cause}"
                require(got == want, said, got, repr(want))


ex_10_3 = Exercise.of(
    "experiment",
    judge=is_the_experiment,
    cases={
        "four arms with the same seeds, and nothing differs but what the arm's name says": [
            # Settings that are nobody's defaults; the third base has a stand-in already.
            Ask((LIVE.with_(p=19, learning_rate=0.004, stop_after=3), 0.7, [3, 4, 8])),
            Ask((LIVE.with_(weight_decay=0.6, d_mlp=48, kl_strength=0.2), 2.0, [1, 0])),
            Ask((LIVE.with_(kl_strength=0.3, penalty_gradient="noise"), 1.5, [2, 5])),
        ]
    },
    hints=(
        "Begin every arm from `base`: `base.with_(...)` changes what you name and nothing else.",
        'The baseline has kl_strength=0, the others prior="kl"; they differ in penalty_gradient.',
        "`grid(spec, seed=seeds)` from grokkit.engine makes a list, one spec for each seed.",
    ),
    afterword="The row kl-acceleration has these arms; experiments.claims shows what they said.",
)

# --- 10.4 peeking -------------------------------------------------------------------------


def found_by(looks, needed, share):
    """The chance that enough seeds have said yes by each look."""
    going, found = np.ones(1), []  # the chance of each number of yes, of those who go on
    for n in range(1, looks[-1] + 1):
        going = np.convolve(going, [1 - share, share])
        if n in looks:
            going[np.arange(n + 1) >= needed[looks.index(n)]] = 0
            found.append(1 - going.sum())
    return found


def chance(looks, share, needed=lambda n: math.ceil(4 * n / 5)):
    """The chance of a yes at some look."""
    return found_by(looks, [needed(n) for n in looks], share)[-1]


def no_simulation(got, looks, share):
    near = alike(got, chance(looks, share), rtol=0.02) and not alike(got, chance(looks, share))
    require(not near, "Near, and not it. No simulation: the exact chance is asked for.", got)


ex_10_4 = Exercise.of(
    "chance_of_a_yes",
    right=chance,
    form=no_simulation,
    cases={
        "at one look of five seeds four yes are needed, in any order, or five": each(
            ([5], 0.5), ([5], 0.9), ([5], 0.2)
        ),
        "needed are four fifths of the seeds so far, rounded up": [
            Ask(([3], 0.6), "Of 3 seeds 3 are needed."),
            Ask(([8], 0.6), "Of 8 seeds 7 are needed."),
            Ask(([10], 0.6), "Of 10 seeds 8 are needed. Is a 4 in the code?"),
        ],
        "who has enough yes at a look has stopped, the others go on": each(
            ([5, 10], 0.5),
            ([3, 4, 7], 0.6),
            ([5, 6, 7, 8, 9, 10], 0.3),
            ([1, 2, 9], 0.4),
            cause="Go seed by seed; at a look take out whoever has enough.",
        ),
    },
    mistakes={
        "Only one look counts here; a yes at any of them is a yes.": any_of(
            lambda looks, s: chance(looks[-1:], s),
            lambda looks, s: chance(looks[:1], s),
            lambda looks, s: max(chance([n], s) for n in looks),
        ),
        "The chances of the looks are added: a yes at both is counted twice.": (
            lambda looks, s: sum(chance([n], s) for n in looks)
        ),
        "The looks are not independent: they share their seeds.": any_of(
            lambda looks, s: 1 - math.prod(1 - chance([n], s) for n in looks),
            lambda looks, s: 1 - math.prod(1 - chance([n], s) for n in np.diff([0, *looks])),
        ),
        "Look only at the numbers in `looks`, not after every seed.": any_of(
            lambda looks, s: chance(range(1, looks[-1] + 1), s),
            lambda looks, s: chance(range(looks[0], looks[-1] + 1), s),
        ),
    },
    hints=(
        "One look: `math.comb(n, yes) * share**yes * (1 - share)**(n - yes)`, for each yes enough.",
        "Looks share their seeds. Go seed by seed; keep the chance of every number of yes so far.",
        "At a look take out the numbers that are enough, and add their chance to the answer.",
    ),
    afterword="So the number of seeds belongs into the claim, before the first run.",
)

# --- 10.5 looking early without paying for it ---------------------------------------------


def keeps_its_word(given, looks, luck):
    needed = as_floats(given, [len(looks)], f"A list of {len(looks)} whole numbers is asked for.")
    by_luck, by_effect = (found_by(looks, list(needed), share) for share in (0.5, 0.9))
    singly = max(found_by([n], [one], 0.5)[0] for n, one in zip(looks, needed, strict=True))
    cause = "Each look keeps to it, and all together do not. What a look has spent is spent."
    cause = "Ask for more yes." if singly > luck else cause
    said = f"By luck the claim holds at some look with a chance of {by_luck[-1]:.3g}. {cause}"
    require(by_luck[-1] <= luck * (1 + 1e-9), said, needed, f"{luck:g} or less")
    said = f"An effect in nine of ten seeds is found with a chance of {by_effect[-1]:.2g} only. "
    require(by_effect[-1] >= 0.8, f"{said}Ask for fewer yes.", needed, "0.8 or more")
    said = f"Before the last look it is found with a chance of {by_effect[-2]:.2g} only. "
    require(by_effect[-2] >= 0.5, f"{said}Spend more luck early.", needed, "0.5 or more")


ex_10_5 = Exercise.of(
    "needed_at",
    judge=keeps_its_word,
    cases={
        "little luck, an effect found, and mostly found early": each(
            ([5, 10, 20], 0.05),
            ([6, 12], 0.1),
            ([8, 16, 24], 0.02),
            ([5, 6, 7, 8, 20], 0.05),
            ([10, 12], 0.03),
        )
    },
    hints=(
        "Luck is a budget. How much does asking for five of five cost at the first look?",
        "As in 10.4, with a share of 1/2: at a look take out the largest numbers of yes first, as "
        "long as the budget lasts.",
        "What was taken out is spent, and is not there any more at the next look.",
    ),
    afterword="Trials in medicine are planned like this. A sealed claim could be, too.",
)
