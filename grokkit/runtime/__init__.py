"""The runtime: processes, clusters, checkpoints, histories and stores; no mathematics."""

from grokkit.runtime.checkpoint import CheckpointError
from grokkit.runtime.collector import RunsFailed
from grokkit.runtime.history import any_specs_of, load_history, save_history, specs_of, thin
from grokkit.runtime.into import train_into
from grokkit.runtime.keys import spec_key
from grokkit.runtime.kinds import import_kinds
from grokkit.runtime.run import train
from grokkit.runtime.store import RunStore
from grokkit.runtime.sweep import load_sweep, sweep
