"""A folder for students: lessons, exercises, and nothing that tells a solution."""

import json
import re
import shutil
from pathlib import Path

from grokkit.classroom.colab import repository
from grokkit.classroom.exercises import generate
from grokkit.classroom.notebooks import EVIDENCE, NotebookError
from grokkit.errors import refuse

README = """\
# {title}

`course/` holds the lessons, `exercises/` the exercises; `RESULTS.md` is what the recorded runs
showed, `FINDINGS.md` the short form. To open them:

```
python -m venv .venv
source .venv/bin/activate        # Windows: .venv\\Scripts\\activate
pip install -c constraints.txt "grokkit[course] @ file:///PATH/TO/THE/WHEEL"
jupyter lab
```

Your teacher gives you the wheel, a file `grokkit-{version}-py3-none-any.whl`. Write your answers
where an exercise says so and run the cell below: it tells you whether your answer is right, and if
not, on which input it fails. Change nothing else, and hand in the notebook under its own name.
"""


def handout(
    target: Path, solutions: Path, exercises: Path, course: Path, constraints: Path
) -> list[Path]:
    """Write the folder.

    Args:
        target: where to; it must be empty or not there yet.
        solutions: where the sources of the exercises lie.
        exercises: where the exercises lie.
        course: where the lessons lie.
        constraints: the tested versions of what must be installed.

    Returns:
        The files written.

    Raises:
        SettingError: the target has something in it, or one of the folders is not there.
        NotebookError: the exercises are not those of the solutions.
    """
    import grokkit

    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        refuse("target", str(target), "an empty folder, or one that is not there yet")
    stale = generate.check(solutions, exercises)
    if stale:
        raise NotebookError(f"{stale[0]}; run `grokkit notebooks exercises` first")
    written = [
        _copy(path, target / name / path.relative_to(folder))
        for name, folder, patterns in (
            ("exercises", exercises, ("*.ipynb", "images/*.png", "conftest.py")),
            ("course", course, ("*.ipynb", f"{EVIDENCE}/*.ipynb", "images/**/*", "glossary.md")),
            (".", course.parent, ("RESULTS.md", "FINDINGS.md")),
        )
        for pattern in patterns
        for path in sorted(folder.glob(pattern))
        if path.is_file()
    ]
    written.append(_copy(constraints, target / "constraints.txt"))
    readme = target / "README.md"
    readme.write_text(
        README.format(title="grokkit: lessons and exercises", version=grokkit.__version__),
        encoding="utf-8",
    )
    written.append(readme)
    address = repository(course.resolve().parent)
    address = address and address.removesuffix("/").removesuffix(".git")
    for path in written:
        _mend(path, target, address)
    return written


_LINK = re.compile(r"(?P<picture>!?)\[(?P<says>[^\[\]]*)\]\((?P<to>[^()\s]+)\)")
_ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:|#")


def _mend(path: Path, target: Path, address: str | None) -> None:
    """Let the links of a file that lead nowhere lead to the repository, or be plain words."""

    def instead(link: re.Match[str]) -> str:
        there = path.parent / link["to"].partition("#")[0]
        if _ELSEWHERE.match(link["to"]) or there.exists():
            return link[0]
        found = (path.parent / link["to"]).resolve()
        if address is None or link["picture"] or not found.is_relative_to(target.resolve()):
            return link["says"]
        inside = found.relative_to(target.resolve()).as_posix()
        # For a file GitHub forwards `tree` to `blob`.
        return f"[{link['says']}]({address}/tree/HEAD/{inside})"

    if path.suffix not in (".md", ".ipynb"):
        return
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        text = _LINK.sub(instead, text)
    else:
        notebook = json.loads(text)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                mended = _LINK.sub(instead, "".join(cell["source"]))
                cell["source"] = mended.splitlines(keepends=True)
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")


def _copy(source: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(source, target))
