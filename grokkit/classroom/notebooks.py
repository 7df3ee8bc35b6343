"""Notebooks made from their sources, one way: ``NN_name.py`` to ``NN_name.ipynb``.

A lesson is written as a Jupytext percent script, which reads well in a diff, and committed
a second time as the executed notebook, which is what a learner opens. :func:`build` makes
the second from the first; :func:`check` says, without running anything, where the two have
come apart. A notebook is a function of its source and its outputs alone: cell ids come from
the cells' content, and what changes from run to run (times, widget ids) is left out. What a
lesson costs to run is kept beside it (:mod:`grokkit.classroom.costs`).

What proves a lesson lies in the folder ``evidence`` beside it, as a notebook of the same name,
built and checked in the same way. Two tags of a code cell fold it away: ``hide-output`` its
result, until somebody opens it or runs the cell; ``hide-input`` its code.
"""

import hashlib
import os
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import jupytext
import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from grokkit.classroom import colab, costs
from grokkit.classroom.differences import differences, first_line
from grokkit.errors import refuse

LARGEST_BYTES = 480_000
"""A notebook larger than this is refused: it belongs in a repository and on slow networks."""

CELL_SECONDS = 600
"""How long one cell may run while a notebook is built."""

EVIDENCE = "evidence"
"""The folder of what proves the lessons, inside the folder of the lessons."""

_FOLDED = {"hide-output": "outputs_hidden", "hide-input": "source_hidden"}
_KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
_WIDGET = "application/vnd.jupyter.widget-view+json"
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{6,}")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class NotebookError(RuntimeError):
    """A notebook that cannot be built; the message names the notebook and the cell."""


def build(folder: Path | str, names: Sequence[str] = (), execute: bool = True) -> list[Path]:
    """Write the notebooks of a folder anew from their sources.

    Args:
        folder: where the sources lie, and where the notebooks go.
        names: which to build: stems or their numbers (``01_sparse_tasks``, ``01``), with their
            folder for evidence (``evidence/01``); all if empty.
        execute: run every cell in a fresh single-threaded kernel. Otherwise the outputs of
            cells whose code has not changed are kept, and changed cells are left without.

    Returns:
        The notebooks written, in order; then those that were not named, but show what another
        costs to run, which is now something else.

    Raises:
        SettingError: there is no such folder, or no such notebook in it.
        NotebookError: a source is malformed; a cell raised, ran too long, or wrote to
            stderr; an output shows a memory address; the notebook came out too large.
            The notebook that was there before is left as it was.
    """
    written = [build_one(source, execute) for source in sources(folder, names)]
    return [*written, *(path for path in _with_costs(Path(folder)) if path not in written)]


def build_one(source: Path, execute: bool = True) -> Path:
    """Write the notebook of one source; see :func:`build`."""
    target = source.with_suffix(".ipynb")
    notebook = _generate(source)
    cost = None
    if execute:
        cost = _execute(notebook, source)
    elif target.exists():
        _adopt_outputs(notebook, _read(target))
    text = text_of(notebook)
    problems = _problems_of_outputs(notebook, text) if execute else []
    if problems:
        raise NotebookError(f"{target.name}: {problems[0]}")
    target.write_text(text, encoding="utf-8", newline="\n")
    if cost is not None:
        costs.keep(source, cost)
    return target


def _with_costs(folder: Path) -> list[Path]:
    """Bring the costs that finished notebooks show up to date; those that this changed."""
    changed = []
    for source in sources(folder):
        target = source.with_suffix(".ipynb")
        if target.exists() and costs.has_places(source.read_text(encoding="utf-8")):
            before = target.read_bytes()
            build_one(source, execute=False)
            if target.read_bytes() != before:
                changed.append(target)
    return changed


def check(folder: Path | str, names: Sequence[str] = ()) -> list[str]:
    """Where the notebooks of a folder differ from what :func:`build` would write.

    Nothing is executed, so outputs are taken as they stand; but every code cell must have
    been run, in order, without an error.

    Args:
        folder: where the sources and the notebooks lie.
        names: which to check, as in :func:`build`; all if empty.

    Returns:
        One line for each difference, each naming the notebook and the cell; empty if none.

    Raises:
        SettingError: there is no such folder, or no such notebook in it.
    """
    found = sources(folder, names)
    lines = [line for source in found for line in _check_one(source)]
    if not names:
        folder = Path(folder)
        for notebook in sorted([*folder.glob("*.ipynb"), *folder.glob(f"{EVIDENCE}/*.ipynb")]):
            if notebook.with_suffix(".py") not in found:
                lines.append(f"{notebook.name}: has no source {notebook.stem}.py")
    return lines


def sources(folder: Path | str, names: Sequence[str] = ()) -> list[Path]:
    """The sources in a folder, in order, its evidence last: the ``NN_name.py``, or those named.

    Raises:
        SettingError: there is no such folder, or a name that fits no source in it.
    """
    folder = Path(folder)
    if not folder.is_dir():
        refuse("folder", str(folder), "a folder with lessons, such as course")
    found = {
        f"{place}{path.stem}": path
        for place in ("", f"{EVIDENCE}/")
        for path in sorted(folder.glob(f"{place}[0-9][0-9]_*.py"))
    }
    if not names:
        return list(found.values())
    chosen = set()
    for name in names:
        fitting = [stem for stem in found if _fits(name, stem)]
        if not fitting:
            refuse("name", name, ", ".join(found) or f"nothing, as {folder} has no NN_name.py")
        chosen.update(fitting)
    return [path for stem, path in found.items() if stem in chosen]


def known(folder: Path, names: Sequence[str]) -> list[str]:
    """Those of some names that fit a source in a folder."""
    stems = [path.stem for path in sources(folder)]
    return [name for name in names if any(_fits(name, stem) for stem in stems)]


def _fits(name: str, stem: str) -> bool:
    place, slash, last = stem.rpartition("/")
    return name.removesuffix(".py").removesuffix(".ipynb") in (stem, f"{place}{slash}{last[:2]}")


# --- from the source to the notebook ------------------------------------------------------


def _generate(source: Path) -> NotebookNode:
    """The notebook of a source, with no outputs."""
    script = parsed(source)
    kernel = script.metadata.get("kernelspec", _KERNEL)
    if kernel.get("name") != _KERNEL["name"]:
        raise NotebookError(
            f"{source.name}: its header asks for the kernel {kernel.get('name')!r}; "
            f"allowed: {_KERNEL['name']!r}"
        )
    known_costs = costs.kept(source.parent)
    for cell in script.cells:
        if cell.cell_type == "markdown":
            cell.source = costs.fill(cell.source, known_costs)
        tags = cell.metadata.get("tags", ())
        if _FOLDED.keys() <= set(tags):
            where = first_line(cell.source)
            raise NotebookError(
                f"{source.name}: the cell {where!r} folds its code and its output; JupyterLab "
                "then shows neither: fold one of them"
            )
        for tag in tags:
            if tag in _FOLDED:
                cell.metadata.setdefault("jupyter", {})[_FOLDED[tag]] = True
        cell.id = content_id(cell)
    notebook = assembled(script.cells)
    colab.append(notebook, source)
    return notebook


def parsed(source: Path) -> NotebookNode:
    """A percent script as a notebook, as Jupytext reads it.

    Raises:
        NotebookError: it is none.
    """
    try:
        script = jupytext.reads(source.read_text(encoding="utf-8"), fmt="py:percent")
    except Exception as error:  # whatever the header or a cell's options made the parser raise
        raise NotebookError(f"{source.name}: not a percent script: {error}") from error
    for cell in script.cells:
        cell.metadata.pop("lines_to_next_cell", None)
    return script


def content_id(cell: NotebookNode) -> str:
    """An id for a cell that follows from what it holds."""
    content = f"{cell.cell_type}\n{cell.source}".encode()
    return hashlib.blake2b(content, digest_size=4).hexdigest()


def assembled(cells: Sequence[NotebookNode]) -> NotebookNode:
    """A notebook of these cells; where several have one id, the later ones get a number."""
    used = Counter[str]()
    for cell in cells:
        used[cell.id] += 1
        if used[cell.id] > 1:
            cell.id += f"-{used[cell.id]}"
    # Without Jupytext's own metadata, by which JupyterLab would write a learner's changes back
    # into the source.
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=_metadata())
    notebook.nbformat_minor = 5
    return notebook


def _metadata() -> NotebookNode:
    return NotebookNode(kernelspec=NotebookNode(_KERNEL), language_info=NotebookNode(name="python"))


def _adopt_outputs(notebook: NotebookNode, old: NotebookNode) -> None:
    """Take over the outputs of the cells that the old notebook has with the same code.

    An id stands for a cell's content, but only in notebooks that :func:`build` wrote, so the
    code is compared too.
    """
    by_id = {cell.get("id"): cell for cell in old.cells}
    for cell in notebook.cells:
        match = by_id.get(cell.id)
        if cell.cell_type != "code" or match is None:
            continue
        if match.source == cell.source or cell.id == colab.ID:  # which does nothing here
            cell.outputs = match.get("outputs", [])
            cell.execution_count = match.get("execution_count")


def _execute(notebook: NotebookNode, source: Path) -> costs.Cost | None:
    """Run every cell in a fresh kernel of this very Python, and tidy what they show.

    Returns:
        What that cost, where the system tells.
    """
    cost = None

    def look(**_: object) -> None:
        nonlocal cost
        pid = getattr(manager.provisioner, "pid", None)
        cost = costs.of_process(pid) if pid else None

    with tempfile.TemporaryDirectory(prefix="grokkit-") as profile:
        threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
        environment |= dict.fromkeys(threads, "1")
        environment |= {"TQDM_DISABLE": "1", "PYTHONHASHSEED": "0"}
        environment |= {"IPYTHONDIR": profile}  # no start-up scripts of the user's own
        manager = AsyncKernelManager(
            kernel_name=_KERNEL["name"],
            # No kernels but the one that comes with this environment.
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
        )
        client = NotebookClient(
            notebook,
            km=manager,
            timeout=CELL_SECONDS,
            resources={"metadata": {"path": str(source.parent)}},
            extra_arguments=["--IPKernelApp.log_level=40"],  # errors only
            record_timing=False,
            store_widget_state=False,
            on_cell_executed=look,  # when the notebook is done, its kernel is gone
        )
        try:
            client.execute(env=environment, cleanup_kc=True)  # ours is the manager to clean up
        except CellExecutionError as error:
            raise NotebookError(f"{source.name}: {_where_it_raised(notebook, error)}") from None
        except (CellTimeoutError, DeadKernelError) as error:
            raise NotebookError(f"{source.name}: {error}") from error
    notebook.metadata = _metadata()  # the client wrote this Python's version into it
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = _tidied(cell.outputs)
    return cost


def _where_it_raised(notebook: NotebookNode, error: CellExecutionError) -> str:
    for number, cell in enumerate(notebook.cells, 1):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                traceback = _ANSI.sub("", "\n".join(output.traceback))
                return f"cell {number} raised {output.ename}: {output.evalue}\n{traceback}"
    return str(error)


def _tidied(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """The outputs without live widgets, and with the pieces of one stream joined.

    A widget is alive only beside its kernel; stored, it would show as an error and under a
    new id in every build. If it brought a picture, the picture stays. Where a stream is cut
    into pieces is up to the clock.
    """
    tidy: list[NotebookNode] = []
    for output in outputs:
        if output.get("data", {}).pop(_WIDGET, None) and "image/png" not in output.data:
            continue
        # Of all outputs only streams have a name.
        if tidy and "name" in output and output.name == tidy[-1].get("name"):
            tidy[-1].text += output.text
        else:
            tidy.append(output)
    return tidy


def _read(path: Path) -> NotebookNode:
    """A notebook as it lies on disk, whatever its version; nothing is upgraded."""
    return nbformat.reader.reads(path.read_text(encoding="utf-8"))


def text_of(notebook: NotebookNode) -> str:
    """A valid notebook as its file holds it."""
    nbformat.validate(notebook)
    return nbformat.writes(notebook).rstrip("\n") + "\n"


# --- what must hold of a finished notebook ------------------------------------------------


def _problems_of_outputs(notebook: NotebookNode, text: str) -> list[str]:
    problems = []
    runs = 0
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        runs += 1
        where = f"cell {number} ({first_line(cell.source)})"
        if cell.execution_count is None:
            problems.append(f"{where} has never been executed")
        elif cell.execution_count != runs:
            problems.append(
                f"{where} was executed out of order: as number {cell.execution_count}, "
                f"but it is number {runs}"
            )
        for output in cell.outputs:
            if output.output_type == "error":
                problems.append(f"{where} shows an error: {output.ename}: {output.evalue}")
            elif output.output_type == "stream" and output.name == "stderr":
                problems.append(f"{where} wrote to stderr: {first_line(output.text)}")
            shown = output.get("text", output.get("data", {}).get("text/plain", ""))
            if _ADDRESS.search(shown):
                problems.append(
                    f"{where} shows a memory address, which changes from run to run; "
                    f"assign the value to _: {first_line(shown)}"
                )
    size = len(text.encode())
    if size > LARGEST_BYTES:
        problems.append(f"has {size:,} bytes; allowed: {LARGEST_BYTES:,}")
    return problems


def _check_one(source: Path) -> list[str]:
    target = source.with_suffix(".ipynb")
    if not target.exists():
        return [f"{target.name}: missing; {source.name} has never been built"]
    try:
        wanted = _generate(source)
    except NotebookError as error:
        return [first_line(str(error))]
    text = target.read_text(encoding="utf-8")
    try:
        found = _read(target)
        nbformat.validate(found)
    except Exception as error:  # not JSON, not a notebook, or not a valid one
        return [f"{target.name}: not a valid notebook: {first_line(str(error))}"]
    lines = [
        *differences(wanted, found, source.name),
        *_problems_of_outputs(found, text),
    ]
    if not lines:
        _adopt_outputs(wanted, found)
        if text_of(wanted) != text:
            lines.append("is not written as `grokkit notebooks build` writes it")
    return [f"{target.name}: {line}" for line in lines]
