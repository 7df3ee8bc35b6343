"""Run by test_interrupt.py in a process of its own: trains while SIGINT keeps coming in.

Says "ready" when an interrupt is welcome, then what came of it.
"""

import signal
import sys
import time

from grokkit.engine import RunSpec, Trainer
from grokkit.runtime import train
from grokkit.runtime.history import to_history
from tests.engine.small import SMALL, same


def say(word: str) -> None:
    print(word, flush=True)


def is_prefix(part, whole) -> bool:
    return same(part, whole.isel(epoch=slice(part.sizes["epoch"])))


def keeps_what_was_trained(spec: RunSpec, rounds: int) -> None:
    whole = train(spec)
    for _ in range(rounds):
        part = None
        say("ready")
        try:
            part = train(spec)
            if not part.attrs["interrupted"]:
                time.sleep(60)
        except KeyboardInterrupt:
            pass
        if part is None:
            say("nothing yet")
        elif part.attrs["interrupted"] and not is_prefix(part, whole):
            say("different")
        else:
            say(f"kept {part.sizes['epoch']} of {whole.sizes['epoch']}")


def goes_on(spec: RunSpec) -> None:
    whole = Trainer([spec])
    whole.advance()
    trainer = Trainer([spec])
    waiting = True
    while waiting:
        try:
            say("ready")
            trainer.advance()
            waiting = False
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        except KeyboardInterrupt:
            say(f"at epoch {trainer.epoch}")
    equal = same(to_history(trainer), to_history(whole))
    equal = equal and trainer.weights.flat.equal(whole.weights.flat)
    say("equal" if equal else "different")


if __name__ == "__main__":
    LONG = SMALL.with_(epochs=600, record_every=7)
    if sys.argv[1] == "keep":
        keeps_what_was_trained(LONG, rounds=int(sys.argv[2]))
    else:
        goes_on(LONG.with_(epochs=400))
