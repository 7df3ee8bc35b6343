"""What every widget is: controls, one picture, and a place where an error is shown."""

import base64
import html
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import ipywidgets

from grokkit.errors import SettingError
from grokkit.viz.style import Picture, png


class PictureWidget(ipywidgets.VBox):
    """Controls above a picture that is a pure function of their values.

    A child class makes its controls, hands them to this one's ``__init__``, and says in
    :meth:`picture` what they show. It is made of core ipywidgets alone, so it works
    wherever ipywidgets do; where no kernel runs (GitHub, nbviewer), the notebook's output
    still has the picture as it was when the cell ran.

    Args:
        controls: what stands above the picture, in rows.
        watched: the controls whose ``value`` the picture depends on.

    Attributes:
        image: the picture.
        message: the last error of a callback; empty where there was none.
        words: the picture's headline, hidden, for who reads the page by ear.
    """

    spoken: ClassVar[bool] = True
    """Whether a screen reader says the headline of each new picture."""

    def __init__(
        self, controls: Sequence[ipywidgets.Widget], watched: Sequence[ipywidgets.Widget]
    ) -> None:
        # As wide as it is, but never wider than the page: a narrow window shrinks it.
        self.image = ipywidgets.Image(
            format="png", layout={"max_width": "100%", "align_self": "flex-start"}
        )
        self.message = ipywidgets.HTML(layout={"display": "none"})
        self.words = ipywidgets.HTML(layout={"height": "1px", "margin": "0", "overflow": "hidden"})
        self._held = False
        super().__init__([*controls, self.message, self.image, self.words])
        for control in watched:
            control.observe(self._moved, "value")
        self.redraw()

    def picture(self) -> Picture:
        """The picture of the controls' values."""
        raise NotImplementedError

    def redraw(self) -> None:
        """Show :meth:`picture`; what it raises is shown, and raised."""
        if self._held:
            return
        with self.errors_shown():
            self.show(self.picture())

    def show(self, picture: Picture) -> None:
        """Put a picture in the place of the one that is there."""
        self.image.value = png(picture, quick=True)
        role = "role='status'" if self.spoken else ""
        self.words.value = f"<span {role}>{html.escape(in_words(picture))}</span>"

    @contextmanager
    def errors_shown(self) -> Iterator[None]:
        """Show what a block raises in the widget, and let it through.

        A callback has no cell under which its error could appear: JupyterLab writes it to
        a log that nobody opens. Swallowed, it could not fail a test either.
        """
        # Not at the end: by then a thread that the block has started may have failed.
        if self.message.value:
            self.message.value = ""
            self.message.layout.display = "none"
        try:
            yield
        except Exception as error:
            self.complain(error)
            raise

    def complain(self, error: Exception) -> None:
        """Show an error to the learner."""
        self.message.value = error_box(error)
        self.message.layout.display = None

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Redraw once after a block that moves several controls, not at each of them."""
        self._held = True
        try:
            with self.errors_shown():
                yield
        finally:
            self._held = False
        self.redraw()

    def static_picture(self) -> bytes:
        """The PNG that stands in the notebook's output for those who have no kernel."""
        return bytes(self.image.value)

    def _moved(self, change: Any) -> None:
        self.redraw()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        # Of the two a front end shows the first that it can: the widget, or the picture.
        bundle = super()._repr_mimebundle_(**kwargs) or {}
        picture = base64.b64encode(self.static_picture()).decode("ascii")
        words = f"{type(self).__name__}: run this cell to use it"
        return bundle | {"image/png": picture, "text/plain": words}


def in_words(picture: Picture) -> str:
    """The headline of a picture and the line below it."""
    return "; ".join(" ".join(text.get_text().split()) for text in picture.texts)


def error_box(error: Exception) -> str:
    """An error as HTML: one line, and for all but a refused setting the way there."""
    refused = isinstance(error, SettingError)
    line = html.escape(str(error) if refused else f"{type(error).__name__}: {error}")
    more = ""
    if not refused:
        trace = html.escape("".join(traceback.format_exception(error)))
        more = (
            "<details><summary>where it came from</summary>"
            f"<pre style='overflow-x:auto;line-height:1.3'>{trace}</pre></details>"
        )
    return (
        "<div role='alert' style='border-left:4px solid #B00020;background:#FDECEA;"
        "color:#5F0010;padding:4px 10px;line-height:1.4;white-space:normal'>"
        f"{line}{more}</div>"
    )
