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
import json
import platform
import secrets
import sys
import tempfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from grokkit.diagnostics import grok_epoch, memorise_epoch, phase_borders
from grokkit.engine.files import write_whole
from grokkit.engine.group import GroupTrainer
from grokkit.engine.spec import RunSpec
from grokkit.engine.spec_kinds import Spec, read_spec

if TYPE_CHECKING:
    import xarray as xr

ALWAYS = ("seed", "kl_strength", "weight_decay", "learning_rate", "width")
"""The settings that are coordinates wherever a spec has them; others where they vary."""

NUMBERED = ("head", "pos", "query")
"""The axes with numbers, so that runs with more heads or longer sequences can be joined."""

FORMAT = 1

OF_HDF5 = {
    *("CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "_NCProperties"),
    *("_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict"),
}
"""The attributes that HDF5 and netCDF add for themselves."""


def to_history(trainer: GroupTrainer) -> "xr.Dataset":
    """The History of a group, as far as it has been trained.

    After the end of a run its values are ``nan``.
    """
    return from_parts(history_parts(trainer))


def from_parts(parts: dict[str, Any]) -> "xr.Dataset":
    """The History of :func:`history_parts`."""
    import xarray as xr

    return xr.Dataset(**parts)


def history_parts(trainer: GroupTrainer) -> dict[str, Any]:
    """The arguments with which ``xarray.Dataset`` makes the History of a group.

    A worker process sends these and not the History: xarray, pandas and HDF5 take most of a
    second to import, which every worker would pay and the parent, who waits anyway, does not.
    """
    from grokkit import __version__

    records, runs = trainer.records, range(len(trainer.specs))
    epochs = np.array(records.epochs, dtype=np.int64)
    newest = records.epochs[-1] if records.epochs else -1
    last = np.array([records.ended.get(run, newest) for run in runs], dtype=np.int64)
    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {"epoch": epochs}
    for name, values in records.values.items():
        array = torch.stack(values, dim=1).cpu().numpy()
        array[epochs > last[:, None]] = np.nan
        axes = trainer.axes.get(name, ())
        variables[name] = (("run", "epoch", *axes), array, {"meaning": trainer.meaning[name]})
        for axis, size in zip(axes, array.shape[2:], strict=True):
            if axis in NUMBERED:
                coordinates[axis] = np.arange(size)
            elif trainer.labels.get(axis):
                coordinates[axis] = trainer.labels[axis]
    per_run = {
        "ended": last,
        "message": _strings([records.messages.get(run, "") for run in runs]),
        **{name: np.array(values) for name, values in trainer.per_run.items()},
    }
    device = trainer.device
    card = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    attributes = {
        "format": FORMAT,
        "grokkit": __version__,
        "torch": str(torch.__version__),
        "python": platform.python_version(),
        "device": f"{device.type} ({card})",
        "gradient": trainer.path,
        "seconds": round(trainer.seconds, 3),
    }
    coordinates |= run_coordinates(trainer.specs)
    coordinates |= {name: ("run", values) for name, values in per_run.items()}
    return {"data_vars": variables, "coords": coordinates, "attrs": attributes}


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


def diverged(history: "xr.Dataset") -> int:
    """How many runs were stopped because their loss was not finite."""
    return sum("not finite" in message for message in history.message.values.tolist())


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


def save_or_rescue(history: "xr.Dataset", path: Path) -> Path:
    """Write a History; where that fails, into the folder for temporary files or the home.

    Raises:
        OSError: the file cannot be written; the message says where the History is instead.
    """
    try:
        return save_history(history, path)
    except OSError as problem:
        name = f"grokkit-{path.parent.resolve().name}-{path.stem}-{secrets.token_hex(2)}.nc"
        for folder in (Path(tempfile.gettempdir()), Path.home()):
            try:
                instead = save_history(history, folder / name)
            except OSError:
                continue
            line = f"{problem.strerror}; the History is in {instead}"
            raise OSError(problem.errno, line) from problem
        raise


def to_bytes(history: "xr.Dataset") -> bytes:
    """A History as the bytes of a compressed netCDF file.

    An attribute is a checksum of it all, since HDF5 notices no change in a coordinate.
    """
    encoding = {
        name: {"zlib": True, "complevel": 6, "fletcher32": True} for name in history.data_vars
    }
    # Texts read from a file remember how long those were, and longer ones would be cut off.
    history = history.drop_encoding().assign_attrs(checksum=_checksum(history))
    with contextlib.ExitStack() as stack:
        # Where a Dask client is open, xarray would ask the cluster for a lock on the file,
        # and a file in memory has no name by which to ask.
        if "dask" in sys.modules:
            stack.enter_context(sys.modules["dask"].config.set(scheduler="synchronous"))
        return bytes(history.to_netcdf(None, engine="h5netcdf", encoding=encoding))


def _checksum(history: "xr.Dataset") -> int:
    """CRC-32 over all names, attributes and values."""
    facts = {str(name): value for name, value in history.attrs.items() if name != "checksum"}
    for name, values in history.variables.items():
        facts[f"variable {name}"] = [values.dims, values.shape, values.attrs]
    total = zlib.crc32(json.dumps(facts, sort_keys=True, default=str).encode())
    for _, values in sorted(history.variables.items()):
        array = values.values
        if array.dtype.kind in "OU":
            data = "\0".join(map(str, array.flat)).encode()
        else:
            # netCDF knows one nan only.
            data = np.where(array != array, np.nan, array).astype(array.dtype).tobytes()
        total = zlib.crc32(data, total)
    return total


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

    Raises:
        ValueError: they are no History, or of a newer format than this grokkit reads.
    """
    try:
        history = _read_netcdf(data)
        version = int(history.attrs["format"])
        checksum = history.attrs.pop("checksum", None)  # older files have none
    except Exception as problem:
        raise ValueError(f"{name}: not a grokkit History ({type(problem).__name__})") from problem
    if version > FORMAT:
        raise ValueError(f"{name}: History format {version}; this grokkit reads up to {FORMAT}")
    if checksum not in (None, _checksum(history)):
        raise ValueError(f"{name}: damaged: its checksum does not fit what it holds")
    return history


def _read_netcdf(data: bytes) -> "xr.Dataset":
    """What ``xr.load_dataset(..., engine="h5netcdf")`` reads, in a fifth of its time.

    h5netcdf looks every variable up again for each question that xarray asks about it.
    """
    import h5py
    import xarray as xr

    def attributes(one: "h5py.HLObject") -> dict[str, Any]:
        return {
            # netCDF has no scalars: one number is an array of one.
            name: value.item() if isinstance(value, np.ndarray | np.generic) else value
            for name, value in one.attrs.items()
            if name not in OF_HDF5
        }

    variables = {}
    with h5py.File(io.BytesIO(data), "r") as file:
        for name, one in file.items():
            if one.is_scale and one.attrs["NAME"].startswith(b"This is a netCDF dimension but"):
                continue  # an axis without numbers
            dims = [name] if one.is_scale else [str(dim[0].name).strip("/") for dim in one.dims]
            text = h5py.check_string_dtype(one.dtype) is not None
            values = one.asstr()[()].astype(str) if text else one[()]
            variables[name] = (dims, values, attributes(one))
        raw = xr.Dataset(variables, attrs=attributes(file))
    return xr.decode_cf(raw).load()


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
    """The coordinates that say which runs they are: specs, and the settings that vary.

    Numbers are numbers; a setting that has other values too, such as None or a tuple, is text.
    """
    settings = [spec.settings() for spec in specs]
    coordinates: dict[str, Any] = {"spec": ("run", _strings([spec.to_json() for spec in specs]))}
    for name in settings[0]:
        values = [one[name] for one in settings if name in one]
        if len(values) == len(specs) and (name in ALWAYS or len(set(values)) > 1):
            numbers = all(isinstance(value, int | float) for value in values)
            coordinates[name] = ("run", np.array(values) if numbers else _strings(values))
    return coordinates


def _strings(values: Iterable[object]) -> np.ndarray:
    # Objects, as netCDF gives them back: fixed-width strings would not survive a round trip.
    return np.array([str(value) for value in values], dtype=object)
