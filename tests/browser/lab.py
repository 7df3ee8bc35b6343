"""A learner at the keyboard: JupyterLab on a copy of the course, in a headless browser."""

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page

SECONDS = 600
"""How long a click, a kernel's start or a page may take on a busy machine."""

# Settings of JupyterLab's own that a test needs: no pop-up about news, every cell drawn.
_DISABLED = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
_NOTEBOOK = {"windowingMode": "none"}


@dataclass(frozen=True)
class Server:
    """A running JupyterLab.

    Attributes:
        url: where it answers.
        token: what it asks of a visitor.
        root: the folder it shows.
    """

    url: str
    token: str
    root: Path


@contextlib.contextmanager
def serve(root: Path, home: Path) -> Iterator[Server]:
    """JupyterLab on the folder ``root``, with a fresh home and no settings of the user's."""
    _write(home / "config" / "labconfig" / "page_config.json", _DISABLED)
    _write(
        home / "settings" / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings",
        _NOTEBOOK,
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    # A Jupyter that this one was started from would hand down its own settings.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")
    }
    environment |= {
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    command += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}"]
    command += ["--LabApp.expose_app_in_browser=True"]
    log_path = home / "server.log"
    with log_path.open("w") as log:
        process = subprocess.Popen(
            command, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", process, log_path)
            yield Server(f"http://127.0.0.1:{port}", token, root)
        finally:
            process.terminate()  # on which it ends its kernels
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def _wait_for(url: str, process: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, f"JupyterLab did not start:\n{log.read_text()}"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:  # not listening yet
            time.sleep(0.2)
    raise AssertionError(f"JupyterLab does not answer:\n{log.read_text()}")


class Lab:
    """One notebook, opened and worked on as a learner would.

    Cells are counted from 0. What a cell holds is read from JupyterLab's own model of the
    notebook; what a learner touches (sliders, pictures) is reached through the page.

    Args:
        page: a fresh page of the browser.
        server: the JupyterLab to visit.
    """

    def __init__(self, page: Page, server: Server) -> None:
        self.page = page
        self.server = server
        self.opened = False
        self.page_errors: list[str] = []
        page.on("pageerror", lambda error: self.page_errors.append(str(error)))
        page.set_default_timeout(SECONDS * 1000)

    def open(self, notebook: str) -> None:
        """Open a notebook by its path under the root, and wait for its kernel."""
        self.page.goto(
            f"{self.server.url}/lab/tree/{notebook}?token={self.server.token}&reset",
            wait_until="domcontentloaded",
        )
        self.page.wait_for_function(
            f"""() => {{
                const panel = window.jupyterapp?.shell.currentWidget;
                return panel?.context?.path === {json.dumps(notebook)}
                    && panel.context.isReady
                    && panel.content.model?.cells.length > 0
                    && panel.sessionContext.session?.kernel?.status === 'idle';
            }}""",
            timeout=SECONDS * 1000,
        )
        # What a slider's callback raises is shown in no cell, only in JupyterLab's log.
        self._panel("""
            window.callbackErrors = [];
            panel.sessionContext.iopubMessage.connect((_, message) => {
                if (message.header.msg_type === 'error'
                        && message.parent_header.msg_type === 'comm_msg') {
                    const {ename, evalue} = message.content;
                    window.callbackErrors.push(`callback: ${ename}: ${evalue}`);
                }
            });
        """)
        self.opened = True

    def run_all(self, seconds: float = 180) -> None:
        """Run every cell from the top, and wait until the last has ended."""
        self._command("notebook:run-all-cells")
        self.wait_until_idle(seconds)

    def run_cell(self, cell: int, seconds: float = 180) -> None:
        """Run one cell, and wait until it has ended."""
        self._panel(f"panel.content.activeCellIndex = {cell}; panel.content.deselectAll()")
        self._command("notebook:run-cell")
        self.wait_until_idle(seconds)

    def wait_until_idle(self, seconds: float = 180) -> None:
        """Wait until no cell shows [*] and the kernel rests, for half a second on end."""
        idle = """() => {
            const panel = window.jupyterapp.shell.currentWidget;
            const kernel = panel.sessionContext.session?.kernel;
            const waiting = [...panel.node.querySelectorAll('.jp-InputPrompt')]
                .some(prompt => prompt.textContent.includes('*'));
            const rests = !waiting && kernel?.status === 'idle' && !kernel.hasPendingInput;
            if (!rests) { window.restingSince = null; return false; }
            window.restingSince ??= performance.now();
            return performance.now() - window.restingSince > 500;
        }"""
        self.page.evaluate("window.restingSince = null")
        self.page.wait_for_function(idle, timeout=seconds * 1000, polling=100)

    def cells(self) -> list[dict]:
        """The notebook's cells as they stand: source, outputs, execution_count, ..."""
        return self._panel("return panel.content.model.sharedModel.toJSON().cells")

    def source(self, cell: int) -> str:
        """The text of one cell."""
        source = self.cells()[cell]["source"]
        return source if isinstance(source, str) else "".join(source)

    def set_cell(self, cell: int, source: str) -> None:
        """Replace the text of one cell, as a learner types an answer."""
        self._panel(
            f"panel.content.model.cells.get({cell}).sharedModel.setSource({json.dumps(source)})"
        )

    def find_cell(self, text: str) -> int:
        """The number of the one cell whose source contains ``text``."""
        found = [i for i in range(len(self.cells())) if text in self.source(i)]
        assert len(found) == 1, f"{text!r} stands in {len(found)} cells"
        return found[0]

    def delete_cell(self, cell: int) -> None:
        """Take one cell out of the notebook."""
        self._panel(f"panel.content.activeCellIndex = {cell}; panel.content.deselectAll()")
        self._command("notebook:delete-cell")

    def shown(self, cell: int) -> Locator:
        """What one cell shows below its code."""
        return self.page.locator(".jp-Notebook-cell").nth(cell).locator(".jp-OutputArea-output")

    def errors(self) -> list[str]:
        """All that went wrong, in the page, callbacks and cells; cells not run; dead widgets."""
        found = [*self.page_errors, *self.page.evaluate("window.callbackErrors")]
        for number, cell in enumerate(self.cells()):
            if cell["cell_type"] != "code":
                continue
            for output in cell["outputs"]:
                if output["output_type"] == "error":
                    found.append(f"cell {number}: {output['ename']}: {output['evalue']}")
            if cell["source"] and not cell["execution_count"]:
                found.append(f"cell {number}: never run")
        for broken in (
            self.page.locator(".jp-OutputArea-output")
            .filter(has_text="Error displaying widget")
            .all()
        ):
            found.append(broken.inner_text())
        return found

    def sliders(self) -> Locator:
        """Every slider on the page, in order."""
        return self.page.locator(".jp-OutputArea-output .widget-slider")

    def move_slider(self, slider: Locator, steps: int) -> str:
        """Move a slider by arrow keys, to the left if negative; returns the value it shows."""
        handle = slider.locator(".noUi-handle").first
        handle.scroll_into_view_if_needed()
        handle.focus()
        for _ in range(abs(steps)):
            handle.press("ArrowRight" if steps > 0 else "ArrowLeft")
        self.wait_until_idle()
        return slider.locator(".widget-readout").inner_text()

    def screenshot(self, path: Path, whole: bool = True) -> None:
        """A picture of the window; with ``whole``, of a window tall enough for the notebook."""
        size = self.page.viewport_size
        assert size is not None
        if whole:
            height = self._panel(
                "return panel.content.widgets"
                ".reduce((height, cell) => height + cell.node.offsetHeight, 0)"
            )
            self.page.set_viewport_size(
                {"width": size["width"], "height": min(height + 150, 16000)}
            )
            # The last cell run is the active one, and JupyterLab has scrolled down to it.
            self._panel(
                "panel.content.activeCellIndex = 0;"
                "await panel.content.scrollToItem(0);"
                "panel.content.outerNode.scrollTop = 0;"
            )
            self.page.wait_for_timeout(500)  # for the pictures to be laid out anew
        path.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=path)
        self.page.set_viewport_size(size)

    def close(self) -> None:
        """End the notebook's kernel."""
        self._panel("return panel.sessionContext.shutdown()")

    def _panel(self, code: str):
        """What JavaScript says of ``panel``, the open notebook."""
        return self.page.evaluate(
            f"async () => {{ const panel = window.jupyterapp.shell.currentWidget; {code} }}"
        )

    def _command(self, command: str) -> None:
        """Start a command from JupyterLab's menus, without waiting for its end."""
        self.page.evaluate(f"() => {{ window.jupyterapp.commands.execute('{command}'); }}")
