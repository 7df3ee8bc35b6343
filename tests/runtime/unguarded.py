"""Run by test_executors.py: a learner's script, with no ``if __name__ == "__main__"``."""

import sys

from grokkit.engine import grid
from grokkit.runtime import train
from tests.engine.small import SMALL

specs = grid(SMALL.with_(epochs=int(sys.argv[2])), seed=range(3))
history = train(specs, workers=2, checkpoint=sys.argv[1], checkpoint_minutes=0.001)
print(history.attrs["interrupted"], history.sizes["run"], int(history.epoch[-1]))
