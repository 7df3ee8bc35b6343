"""What Binder is told: the tested versions, nothing compiled, one thread, the first lesson.

No image is built here; the two scripts are run in an environment of their own.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires, version
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
BINDER = ROOT / "binder"
LANDING = "course/00_index.ipynb"


def pins(text: str) -> dict[str, str]:
    """Name and version of each ``name==version`` in a text; a "+cpu" is left out."""
    found = re.findall(r"^[ -]*([a-z0-9-]+)==([0-9.]+)(?:\+cpu)?(?: #.*)?$", text, re.MULTILINE)
    return dict(found)


def test_the_environment_has_the_tested_versions_of_what_a_learner_needs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["course"]]
    needed = {re.match(r"[a-z0-9-]+", line)[0] for line in lines}  # type: ignore[index]
    tested = pins((ROOT / "constraints.txt").read_text())
    there = pins((BINDER / "environment.yml").read_text())
    del there["notebook"]  # Binder's own, see the test below
    assert there == {name: tested[name] for name in tested if name in needed}
    assert set(there) == needed


def test_binders_notebook_goes_with_the_jupyterlab_that_is_pinned():
    there = pins((BINDER / "environment.yml").read_text())
    assert version("notebook") == there["notebook"]
    wanted = [Requirement(line) for line in requires("notebook") or [] if "extra ==" not in line]
    for one in wanted:
        if one.name in there:
            assert there[one.name] in one.specifier, one
    assert {"jupyterlab"} <= {one.name for one in wanted} & set(there)


def test_conda_brings_python_alone_and_torch_is_that_for_processors():
    text = (BINDER / "environment.yml").read_text()
    conda, _, pip = text.partition("  - pip:\n")
    assert re.findall(r"^  - (\S+)$", conda, re.MULTILINE) == ["conda-forge", "python=3.11", "pip"]
    assert "--extra-index-url https://download.pytorch.org/whl/cpu" in pip
    assert re.search(r"torch==[0-9.]+\+cpu$", pip, re.MULTILINE)
    assert "torchvision" not in text


def badges_module():
    spec = importlib.util.spec_from_file_location("badges", BINDER / "badges.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_badges_of_the_readme_come_from_one_address():
    readme, project = ((ROOT / name).read_text("utf-8") for name in ("README.md", "pyproject.toml"))
    module = badges_module()
    assert len(module.MARKS.findall(readme)) == 1
    assert module.written(readme, project) == readme, "run python binder/badges.py"
    named = '[project]\nname = "grokkit"\n[project.urls]\nRepository = "https://github.com/a/b"\n'
    text = module.written(readme, named)
    for link in (
        "mybinder.org/v2/gh/a/b/HEAD?labpath=",
        "research.google.com/github/a/b/blob/main/",
    ):
        assert f"{link}{LANDING})" in text
    assert module.written(text, project) == readme
    assert module.badges('[project]\nname = "grokkit"\n') == ""


@pytest.mark.parametrize("name", ["postBuild", "start"])
def test_the_scripts_can_be_run(name: str):
    assert os.access(BINDER / name, os.X_OK)
    subprocess.run(["bash", "-n", str(BINDER / name)], check=True)


def test_start_caps_the_threads_and_hands_over(tmp_path: Path):
    code = "import os; print(os.environ['OMP_NUM_THREADS'], os.environ['MKL_NUM_THREADS'])"
    plain = {name: text for name, text in os.environ.items() if "THREADS" not in name}
    done = subprocess.run(
        [str(BINDER / "start"), sys.executable, "-c", code],
        env=plain,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "1 1\n"


def family(process: int) -> list[int]:
    """A process and all that it started."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *(one for child in children for one in family(int(child)))]


def memory(process: int, kind: str) -> float:
    """Bytes in memory of a process and all that it started.

    PSS counts a page that n processes share 1/n times, whoever they are; RSS counts it in each,
    and so bounds what the processes need from above.
    """
    rolls = (Path(f"/proc/{one}/smaps_rollup").read_text() for one in family(process))
    return sum(int(re.search(rf"^{kind}:\s+(\d+)", roll, re.MULTILINE)[1]) for roll in rolls) * 1024  # type: ignore[index]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux")
def test_a_server_and_three_lessons_begun_fit_two_gigabytes(tmp_path: Path):
    """Each lesson's kernel has run its first three code cells; all are alive at once."""
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0"]
    server = subprocess.Popen(
        [*command, f"--ServerApp.root_dir={ROOT}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    kernels: list[KernelManager] = []
    try:
        for lesson in ("01_sparse_tasks", "05_the_wait", "06_kl_acceleration"):
            manager = KernelManager()
            manager.start_kernel(cwd=str(tmp_path), env=os.environ | {"PYTHONPATH": str(ROOT)})
            kernels.append(manager)
            client = manager.blocking_client()
            client.start_channels()
            client.wait_for_ready(timeout=600)
            cells = json.loads((ROOT / "course" / f"{lesson}.ipynb").read_text("utf-8"))["cells"]
            code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
            for source in code[:3]:
                reply = client.execute_interactive(
                    source, timeout=600, output_hook=lambda message: None
                )
                assert reply["content"]["status"] == "ok", reply["content"]
            client.stop_channels()
        started = [server.pid, *(manager.provisioner.process.pid for manager in kernels)]  # type: ignore[union-attr]
        for kind in ("Pss", "Rss"):
            each = [round(memory(process, kind) / 1e6) for process in started]
            print(f"{kind}: server {each[0]}, kernels {each[1:]}, together {sum(each)} MB")
            assert sum(each) < 2000
    finally:
        for manager in kernels:
            manager.shutdown_kernel(now=True)
        server.terminate()
        server.wait()


@pytest.mark.slow
def test_post_build_installs_the_package_alone_and_lands_on_the_first_page(tmp_path: Path):
    """In a virtual environment that sees the libraries of this one, pip too; not its grokkit."""
    venv = [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")]
    subprocess.run(venv, check=True)
    python = tmp_path / "env" / "bin" / "python"
    (site,) = (tmp_path / "env").glob("lib/python*/site-packages")
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    import torch

    for entry in Path(torch.__file__).parents[1].iterdir():
        if "grokkit" not in entry.name and not entry.name.endswith(".pth"):
            (libraries / entry.name).symlink_to(entry)
    (site / "libraries.pth").write_text(f"{libraries}\n")
    repository = tmp_path / "repository"
    repository.mkdir()
    for name in ("grokkit", "binder", "pyproject.toml", "README.md", "course"):
        (repository / name).symlink_to(ROOT / name)
    for name in ("LICENSE", "LICENSE-CC-BY-4.0"):
        (repository / name).write_bytes((ROOT / name).read_bytes())

    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": "", "PIP_REQUIRE_VIRTUALENV": "1"}
    done = subprocess.run(
        ["binder/postBuild"],
        cwd=repository,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    if "No matching distribution found for hatchling" in done.stderr:
        pytest.skip("pip reaches no package index")
    assert done.returncode == 0, done.stderr
    assert not any(repository.rglob("*.so"))
    installed = {path.name for path in site.iterdir() if path.suffix == ".dist-info"}
    assert [name for name in installed if not name.startswith(("pip-", "setuptools-"))] == [
        next(name for name in installed if name.startswith("grokkit-"))
    ]
    code = "import grokkit, pathlib; print(pathlib.Path(grokkit.__file__).parent)"
    where = subprocess.run(
        [str(python), "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert where.stdout.strip() == str(repository / "grokkit")
    (settings,) = (tmp_path / "env").glob("etc/jupyter/jupyter_server_config.d/grokkit.json")
    assert json.loads(settings.read_text())["LabApp"]["default_url"] == f"/lab/tree/{LANDING}"
    assert (ROOT / LANDING).exists()
