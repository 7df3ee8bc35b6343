"""Run by test_checkpoint_kill.py in a process of its own: trains, and is killed, again and again.

It forks, so that each victim starts at once and not after importing torch, kills the victim
at a random moment, and says how far the checkpoint has come. In the end it lets one finish.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

from grokkit.runtime import save_history, train
from grokkit.runtime.checkpoint import load_checkpoint
from tests.engine.small import SMALL

LONG = SMALL.with_(epochs=400, record_every=10)


def stamp(path: Path) -> int:
    """Changes with every checkpoint."""
    return path.stat().st_mtime_ns if path.exists() else 0


def main(folder: Path, kills: int) -> None:
    path, chance = folder / "run.safetensors", random.Random(3)
    for kill in range(kills):
        before = stamp(path)
        victim = os.fork()
        if victim == 0:
            train(LONG, checkpoint=path, checkpoint_minutes=0.0)
            os._exit(0)
        # Every other victim is left in peace until it has saved something, so that there is
        # progress on a busy machine, too.
        while kill % 2 and stamp(path) == before:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.25))
        os.kill(victim, signal.SIGKILL)
        _, status = os.waitpid(victim, 0)
        epoch = load_checkpoint(path).epoch if path.exists() else 0
        print(epoch, "killed" if os.WIFSIGNALED(status) else "finished", flush=True)
    save_history(train(LONG, checkpoint=path, checkpoint_minutes=0.0), folder / "run.nc")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
