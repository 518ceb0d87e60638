"""HTML and SVG as text: what is put between tags is escaped, unless it was made here."""

import re
from html import escape

_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")  # no XML file may hold these
_EMPTY = {"meta", "img", "link"}  # have no end tag


class Markup(str):
    """Text that is HTML or SVG already."""

    __slots__ = ()


def clean(text: str) -> str:
    """Any text, such as the name of a file, without what no file of text can hold."""
    return _UNFIT.sub("\ufffd", text)


def tag(name: str, /, *inside: str, **attributes: object) -> Markup:
    """An element: tag("td", "a < b", class_="wide") -> <td class="wide">a &lt; b</td>. None leaves an attribute out."""
    given = {key.rstrip("_").replace("_", "-"): str(value) for key, value in attributes.items() if value is not None}
    start = f"<{name}" + "".join(f' {key}="{escape(clean(value))}"' for key, value in given.items()) + ">"
    return Markup(start if name in _EMPTY else f"{start}{join(*inside)}</{name}>")


def join(*parts: str) -> Markup:
    """Texts, escaped, and markup one after the other."""
    return Markup("".join(part if isinstance(part, Markup) else escape(clean(part)) for part in parts))
