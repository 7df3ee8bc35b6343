"""What a worker sends is small, exact, and needs no library that a History needs."""

import subprocess
import sys

import numpy as np

from grokkit.engine import Trainer, grid
from grokkit.runtime.history import to_history
from grokkit.runtime.outcome import Outcome
from tests.engine.small import SMALL, bits, same


def trained() -> Trainer:
    trainer = Trainer(grid(SMALL, seed=[0, 1], weight_decay=[0.5, 1.0]))
    trainer.advance()
    return trainer


def test_it_comes_back_bit_for_bit():
    outcome = Outcome.of(trained())
    again = Outcome.from_bytes(outcome.to_bytes())
    assert again.facts == outcome.facts
    assert again.arrays.keys() == outcome.arrays.keys()
    for name, array in outcome.arrays.items():
        assert again.arrays[name].dtype == array.dtype
        assert bits(again.arrays[name]) == bits(array)


def test_the_history_of_what_was_sent_is_that_of_the_trainer():
    trainer = trained()
    sent = Outcome.from_bytes(Outcome.of(trainer).to_bytes())
    assert same(to_history(sent), to_history(trainer))
    assert to_history(sent).attrs == to_history(trainer).attrs


def test_what_is_sent_does_not_change_when_training_goes_on():
    trainer = Trainer([SMALL])
    trainer.advance(SMALL.record_every)
    outcome = Outcome.of(trainer)
    before = {name: array.copy() for name, array in outcome.arrays.items()}
    trainer.advance()
    assert all(np.array_equal(before[n], a, equal_nan=True) for n, a in outcome.arrays.items())


def test_a_worker_never_loads_what_a_history_needs():
    code = (
        "import sys\n"
        "from grokkit.runtime.jobs import Job, train_job\n"
        "from grokkit.engine import presets\n"
        "spec = presets['live'].with_(p=5, epochs=4, record_every=2)\n"
        "outcome, _ = train_job(Job((spec,), 0, 'cpu', None, 1.0))\n"
        "outcome.to_bytes()\n"
        "print(sorted({'xarray', 'pandas', 'h5netcdf', 'h5py'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
