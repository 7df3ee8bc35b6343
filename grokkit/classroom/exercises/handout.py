"""A folder for students: lessons, exercises, and nothing that tells a solution."""

import shutil
from pathlib import Path

from grokkit.classroom.exercises import generate
from grokkit.classroom.notebooks import NotebookError
from grokkit.errors import refuse

README = """\
# {title}

`course/` holds the lessons, `exercises/` the exercises. To open them:

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
    files = [*sorted(exercises.glob("*.ipynb")), *sorted(exercises.glob("images/*.png"))]
    files.append(exercises / "conftest.py")
    written = [_copy(path, target / "exercises" / path.relative_to(exercises)) for path in files]
    pictures = sorted(path for path in course.glob("images/**/*") if path.is_file())
    lessons = [*sorted(course.glob("*.ipynb")), *pictures]
    written += [_copy(path, target / "course" / path.relative_to(course)) for path in lessons]
    written.append(_copy(constraints, target / "constraints.txt"))
    readme = target / "README.md"
    readme.write_text(
        README.format(title="grokkit: lessons and exercises", version=grokkit.__version__),
        encoding="utf-8",
    )
    return [*written, readme]


def _copy(source: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(source, target))
