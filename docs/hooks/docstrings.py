"""For the reference: examples in docstrings become blocks of code, and the comment behind a field says what it is."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", flags=re.MULTILINE)
REMARK = re.compile(r"\S\s+# (?!noqa|type:)(.+)$")


class Docstrings(griffe.Extension):
    """Reads docstrings as this project writes them."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Put each example, from >>> to the next empty line, between fences."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", obj.docstring.value)

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """`moves: NDArray[np.int8]  # (n,) slides` -> the docstring "(n,) slides"."""
        if attr.docstring is None and (remark := REMARK.search(attr.source.rpartition("\n")[2])):
            attr.docstring = griffe.Docstring(remark[1], parent=attr)
