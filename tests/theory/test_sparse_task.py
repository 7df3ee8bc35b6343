"""Definition 3.1 on whole input spaces."""

from itertools import product

import numpy as np

from grokkit.theory import class_distinct_pairs, is_sparse_task

TOKENS = np.array(list(product(range(3), repeat=3)))
SUMS = (TOKENS[:, 0] + TOKENS[:, 2]) % 3


def test_definition_3_1_the_target_is_a_function_of_the_informative_positions():
    assert is_sparse_task(TOKENS, SUMS, np.array([True, False, True]))
    assert is_sparse_task(TOKENS, SUMS, np.array([True, True, True]))
    assert not is_sparse_task(TOKENS, SUMS, np.array([True, True, False]))


def test_every_informative_position_and_no_distractor_has_a_class_distinct_pair():
    for position, informative in enumerate([True, False, True]):
        pairs = class_distinct_pairs(TOKENS, SUMS, position)
        assert (len(pairs) > 0) == informative
        differs = TOKENS[pairs[:, 0]] != TOKENS[pairs[:, 1]]
        assert (differs == (np.arange(3) == position)).all()
        assert (SUMS[pairs[:, 0]] != SUMS[pairs[:, 1]]).all()


def test_all_class_distinct_pairs_are_found():
    # 9 settings of the other two tokens, each with 3 tokens of 3 different sums.
    assert class_distinct_pairs(TOKENS, SUMS, 0).shape == (27, 2)
