"""The History of a set of runs: an ``xarray.Dataset`` with dims (run, epoch).

    history.test_accuracy.sel(run=0)                      one curve
    history.kl.groupby("weight_decay").mean()             a mean over seeds

Coordinates name the settings that vary (always ``seed``, ``kl_strength``,
``weight_decay`` and ``learning_rate`` too) and hold each run's whole spec as JSON, of
whichever kind it is (:mod:`grokkit.engine.spec_kinds`);
attributes hold the versions and the device. Saved as compressed netCDF, which any language
can read and which, unlike a pickle, can run nothing when it is opened.
"""

import contextlib
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from grokkit.diagnostics import grok_epoch, memorise_epoch, phase_borders
from grokkit.engine import feature_probes
from grokkit.engine.files import write_whole
from grokkit.engine.probes import DIMS, MEANING
from grokkit.engine.spec import RunSpec
from grokkit.engine.spec_kinds import Spec, read_spec
from grokkit.runtime.outcome import Outcome

if TYPE_CHECKING:
    import xarray as xr

    from grokkit.engine.trainer import Trainer

_DIMS = {**DIMS, **feature_probes.DIMS}
_MEANING = {**MEANING, **feature_probes.MEANING}
_NAMED = {"feature_set": list(feature_probes.SETS), "order": list(feature_probes.ORDERS)}

ALWAYS = ("seed", "kl_strength", "weight_decay", "learning_rate", "width")
"""The settings that are coordinates wherever a spec has them; others where they vary."""

FORMAT = 1


def to_history(source: "Trainer | Outcome") -> "xr.Dataset":
    """The History of a group, as far as it has been trained.

    After the end of a run its values are ``nan``.

    Args:
        source: a trainer, or what came of one.
    """
    import xarray as xr

    outcome = source if isinstance(source, Outcome) else Outcome.of(source)
    facts = outcome.facts
    specs = [RunSpec.from_dict(plain) for plain in facts["specs"]]
    variables: dict[str, Any] = {
        name: (("run", "epoch", *_DIMS.get(name, ())), array, {"meaning": _MEANING[name]})
        for name, array in outcome.arrays.items()
    }
    dataset = xr.Dataset(variables, coords={"epoch": np.array(facts["epochs"], dtype=np.int64)})
    # Numbered, so that runs with more heads or longer sequences can be joined to others.
    for name in ("head", "pos", "query"):
        if name in dataset.dims:
            dataset = dataset.assign_coords({name: np.arange(dataset.sizes[name])})
    for name, values in _NAMED.items():
        if name in dataset.dims:
            dataset = dataset.assign_coords({name: values})
    if facts["extra"] and "extra" in dataset.dims:
        dataset = dataset.assign_coords(extra=facts["extra"])
    dataset = dataset.assign_coords(run_coordinates(specs))
    per_run = {
        "ended": np.array(facts["ended"], dtype=np.int64),
        "mirror_rate": np.array(facts["mirror_rates"]),
        "message": _strings(facts["messages"]),
        **{name: np.full(len(specs), size) for name, size in facts["sizes"].items()},
    }
    dataset = dataset.assign_coords({name: ("run", values) for name, values in per_run.items()})
    dataset.attrs = {"format": FORMAT, **facts["provenance"]}
    return dataset


def join(histories: "Sequence[xr.Dataset]") -> "xr.Dataset":
    """One History of several, run after run; shorter ones are padded with ``nan``."""
    import xarray as xr

    if len(histories) == 1:
        return histories[0]
    # Coordinates that vary between the parts but not within one are missing in some.
    specs = [spec for history in histories for spec in any_specs_of(history)]
    fresh = run_coordinates(specs)
    # What a part was cut from may have had more such coordinates than the part alone, or fewer.
    names = {"spec", *(name for spec in specs for name in spec.settings())}
    parts = [history.drop_vars(names, errors="ignore") for history in histories]
    joined = xr.concat(parts, dim="run", join="outer", combine_attrs="override")
    joined = joined.assign_coords(fresh)
    joined.attrs = dict(histories[0].attrs) | {
        name: ", ".join(sorted({str(history.attrs[name]) for history in histories}))
        for name in ("grokkit", "torch", "python", "device", "gradient")
    }
    joined.attrs["seconds"] = round(sum(history.attrs["seconds"] for history in histories), 3)
    return joined


def split(history: "xr.Dataset") -> "list[xr.Dataset]":
    """One History for each run, as if it had been trained alone: the inverse of :func:`join`.

    The seconds of runs that were trained together are shared out evenly.
    """
    parts = []
    specs = any_specs_of(history)
    for run, spec in enumerate(specs):
        one = history.isel(run=[run])
        one = one.isel(epoch=one.epoch.values <= one.ended.values[0])
        one = one.drop_vars(set(spec.settings()) & set(one.coords))
        one = one.assign_coords(run_coordinates([spec]))
        one.attrs = dict(history.attrs) | {"seconds": history.attrs["seconds"] / len(specs)}
        parts.append(one)
    return parts


def complete(history: "xr.Dataset") -> list[bool]:
    """For each run, whether it has come to its end and was not interrupted."""
    runs = zip(any_specs_of(history), history.ended.values, history.message.values, strict=True)
    return [int(last) == spec.epochs or message != "" for spec, last, message in runs]


def specs_of(history: "xr.Dataset") -> list[RunSpec]:
    """The spec of every run of a History of transformers.

    Raises:
        SettingError: a run is of another kind.
    """
    return [RunSpec.from_json(str(one)) for one in np.atleast_1d(history.spec.values)]


def any_specs_of(history: "xr.Dataset") -> list[Spec]:
    """The spec of every run of a History, of whichever kinds they are.

    Raises:
        SettingError: a run is of a kind that is not registered in this process.
    """
    return [read_spec(str(one)) for one in np.atleast_1d(history.spec.values)]


def save_history(history: "xr.Dataset", path: str | Path) -> Path:
    """Write a History as compressed netCDF, whole or not at all.

    Raises:
        OSError: the file cannot be written; a file that was there before is untouched.
    """
    return write_whole(path, to_bytes(history))


def to_bytes(history: "xr.Dataset") -> bytes:
    """A History as the bytes of a compressed netCDF file."""
    encoding = {
        name: {"zlib": True, "complevel": 6, "fletcher32": True} for name in history.data_vars
    }
    # Texts read from a file remember how long those were, and longer ones would be cut off.
    history = history.drop_encoding()
    with contextlib.ExitStack() as stack:
        # Where a Dask client is open, xarray would ask the cluster for a lock on the file,
        # and a file in memory has no name by which to ask.
        if "dask" in sys.modules:
            stack.enter_context(sys.modules["dask"].config.set(scheduler="synchronous"))
        return bytes(history.to_netcdf(None, engine="h5netcdf", encoding=encoding))


def load_history(path: str | Path) -> "xr.Dataset":
    """Read a History that :func:`save_history` wrote, bit for bit what was saved.

    Args:
        path: a file; or the folder of a sweep, whose runs are joined, ordered by file name.

    Raises:
        FileNotFoundError: there is no such file, or the folder holds none.
        ValueError: the file is no History, or of a newer format than this grokkit reads.
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(path.glob("*.nc"))
        if not files:
            raise FileNotFoundError(f"{path}: no History (.nc) in this folder")
        return join([load_history(file) for file in files])
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file")
    return from_bytes(path.read_bytes(), str(path))


def from_bytes(data: bytes, name: str) -> "xr.Dataset":
    """The History that :func:`to_bytes` wrote.

    Args:
        data: the bytes of a file.
        name: what to call them in a message.

    Raises:
        ValueError: they are no History, or of a newer format than this grokkit reads.
    """
    import xarray as xr

    try:
        history = xr.load_dataset(io.BytesIO(data), engine="h5netcdf")
        version = int(history.attrs["format"])
        # netCDF gives NumPy scalars back.
        history.attrs = {
            name: getattr(v, "item", lambda v=v: v)() for name, v in history.attrs.items()
        }
    except Exception as problem:
        raise ValueError(f"{name}: not a grokkit History ({type(problem).__name__})") from problem
    if version > FORMAT:
        raise ValueError(f"{name}: History format {version}; this grokkit reads up to {FORMAT}")
    return history


def thin(
    history: "xr.Dataset",
    records: int = 100,
    mantissa_bits: int = 10,
    keep: Sequence[float] = (),
) -> "xr.Dataset":
    """A smaller History for keeping: log-spaced records, floats rounded.

    Keeps every run's first and last record and those at which it memorised, grokked, or
    passed from one phase to the next, so that these epochs stay what they were. Floats
    are kept to a relative 2^-(mantissa_bits + 1), accuracies exactly.

    Args:
        history: what to make smaller.
        records: about how many records to keep, denser in early epochs.
        mantissa_bits: the bits of every other float to keep.
        keep: epochs of records to keep besides.
    """
    last = history.sizes["epoch"] - 1
    also = np.flatnonzero(np.isin(history.epoch.values, keep))
    steps = np.geomspace(1, last + 1, records).round().astype(int) - 1 if last > 0 else [0]
    kept = history.isel(epoch=np.unique(np.concatenate([[0, last], steps, also, _events(history)])))
    for name, values in kept.data_vars.items():
        if "accuracy" not in str(name) and values.dtype.kind == "f":
            kept[name] = values.copy(data=_round_mantissa(values.values, mantissa_bits))
    kept.attrs = dict(history.attrs) | {"mantissa_bits": mantissa_bits}
    return kept


def _events(history: "xr.Dataset") -> np.ndarray:
    """The numbers of the records at which something happened to some run."""
    epochs = [
        memorise_epoch(history),
        *(grok_epoch(history, accuracy) for accuracy in (0.95, 0.99)),
        history.ended,
    ]
    if "kl" in history:  # there is attention, and so there are phases
        epochs.append(phase_borders(history))
    when = np.concatenate([np.ravel(some.values) for some in epochs])
    records = np.searchsorted(history.epoch.values, when[~np.isnan(when)])
    # Of a part of a History, the end of a run may lie outside.
    return np.minimum(records, history.sizes["epoch"] - 1)


def _round_mantissa(values: np.ndarray, bits: int) -> np.ndarray:
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(mantissa * 2 ** (bits + 1)) / 2 ** (bits + 1), exponent).astype(
        values.dtype
    )


def run_coordinates(specs: Sequence[Spec]) -> dict[str, Any]:
    """The coordinates that say which runs they are: specs, and the settings that vary."""
    settings = [spec.settings() for spec in specs]
    names = [name for name in settings[0] if all(name in one for one in settings)]
    coordinates: dict[str, Any] = {"spec": ("run", _strings([spec.to_json() for spec in specs]))}
    for name in names:
        values = [one[name] for one in settings]
        plain = all(isinstance(value, int | float | str) for value in values)
        if plain and (name in ALWAYS or len(set(values)) > 1):
            text = isinstance(values[0], str)
            coordinates[name] = ("run", _strings(values) if text else np.array(values))
    return coordinates


def _strings(values: Sequence[str]) -> np.ndarray:
    # Objects, as netCDF gives them back: fixed-width strings would not survive a round trip.
    return np.array(values, dtype=object)
