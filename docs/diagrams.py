"""Draws the diagrams of docs/methods: python docs/diagrams.py"""

from pathlib import Path

INK, GREY, BLUE, ORANGE, PAPER = "#222222", "#777777", "#0072B2", "#D55E00", "#FFFFFF"
FONT = "font-family='Helvetica, Arial, sans-serif'"


def _marker(name: str, colour: str) -> str:
    """The head of an arrow."""
    size = "markerWidth='7' markerHeight='7' orient='auto'"
    return (
        f"<marker id='{name}' viewBox='0 0 10 10' refX='9' refY='5' {size}><path d='M0 0 10 5 0 10z' fill='{colour}'/></marker>"
    )


class Drawing:
    """A picture that grows line by line."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.parts = [
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}'>",
            f"<title>{title}</title>",
            f"<defs>{_marker('tip', GREY)}{_marker('back', ORANGE)}</defs>",
            f"<rect width='{width}' height='{height}' rx='8' fill='{PAPER}'/>",
        ]

    def text(
        self, x: float, y: float, words: str, *, size: int = 14, colour: str = INK, bold: bool = False, at: str = "middle"
    ) -> None:
        weight = " font-weight='bold'" if bold else ""
        self.parts.append(
            f"<text x='{x}' y='{y}' {FONT} font-size='{size}' fill='{colour}' text-anchor='{at}'{weight}>{words}</text>"
        )

    def arrow(self, x1: float, y1: float, x2: float, y2: float, *, chance: bool = False, colour: str = GREY) -> None:
        dashes = " stroke-dasharray='5 4'" if chance else ""
        self.parts.append(
            f"<line x1='{x1}' y1='{y1}' x2='{x2}' y2='{y2}' stroke='{colour}' stroke-width='1.6'{dashes} "
            f"marker-end='url(#tip)'/>"
        )

    def back(self, path: str) -> None:
        """The way of the error: from what came after to what is moved."""
        self.parts.append(f"<path d='{path}' fill='none' stroke='{ORANGE}' stroke-width='2.2' marker-end='url(#back)'/>")

    def state(self, x: float, y: float, name: str = "", *, valued: bool = False, radius: int = 17) -> None:
        """A state, in which the player slides: a circle. Blue if the network values it."""
        fill = "#DCEBF5" if valued else PAPER
        self.parts.append(
            f"<circle cx='{x}' cy='{y}' r='{radius}' fill='{fill}' stroke='{BLUE if valued else INK}' stroke-width='1.8'/>"
        )
        self.text(x, y + 5, name)

    def after(self, x: float, y: float, name: str = "", *, valued: bool = False, side: int = 30) -> None:
        """An afterstate, in which a tile appears: a square. Blue if the network values it."""
        fill = "#DCEBF5" if valued else PAPER
        self.parts.append(
            f"<rect x='{x - side / 2}' y='{y - side / 2}' width='{side}' height='{side}' rx='4' fill='{fill}' "
            f"stroke='{BLUE if valued else INK}' stroke-width='1.8'/>"
        )
        self.text(x, y + 5, name)

    def save(self, path: Path) -> None:
        path.write_text("\n".join([*self.parts, "</svg>", ""]))


def legend(drawing: Drawing, y: int) -> None:
    drawing.state(40, y, radius=9)
    drawing.text(56, y + 5, "state: the player slides", size=12, colour=GREY, at="start")
    drawing.after(222, y, side=17)
    drawing.text(238, y + 5, "afterstate: a new tile appears", size=12, colour=GREY, at="start")
    drawing.state(462, y, valued=True, radius=9)
    drawing.text(478, y + 5, "the network values it", size=12, colour=GREY, at="start")
    drawing.arrow(640, y, 680, y, chance=True)
    drawing.text(688, y + 5, "chance", size=12, colour=GREY, at="start")


def backup(path: Path) -> None:
    """What is moved towards what."""
    drawing = Drawing(780, 250, "Backup diagrams of V(state) and V(afterstate)")
    for left, title, of_states in ((20, "Learning V(state)", True), (400, "Learning V(afterstate)", False)):
        drawing.text(left + 10, 34, title, size=16, bold=True, at="start")
        s, a, n, b = (left + 40, left + 130, left + 220, left + 310)
        y = 120
        drawing.arrow(s + 18, y, a - 17, y)
        drawing.text((s + a) / 2, y - 8, "r" if of_states else "", size=13, colour=GREY)
        drawing.arrow(a + 16, y, n - 19, y, chance=True)
        drawing.state(s, y, "s", valued=of_states)
        drawing.after(a, y, "s′", valued=not of_states)
        drawing.state(n, y, "s″", valued=of_states)
        if of_states:
            drawing.back(f"M{n} {y - 20} C{n} {y - 70} {s} {y - 70} {s} {y - 22}")
            drawing.text(left + 165, 200, "V(s) ← V(s) + α [ r + V(s″) − V(s) ]", size=14)
        else:
            drawing.arrow(n + 18, y, b - 17, y)
            drawing.text((n + b) / 2, y - 8, "r′", size=13, colour=GREY)
            drawing.after(b, y, "t′", valued=True)
            drawing.back(f"M{b} {y - 18} C{b} {y - 72} {a} {y - 72} {a} {y - 18}")
            drawing.text(left + 175, 200, "V(s′) ← V(s′) + α [ r′ + V(t′) − V(s′) ]", size=14)
    legend(drawing, 228)
    drawing.save(path)


def selection(path: Path) -> None:
    """What must be looked up to choose a slide."""
    drawing = Drawing(780, 330, "Action-selection diagrams of V(state) and V(afterstate)")
    for left, title, of_states in (
        (20, "Choosing a slide by V(state)", True),
        (400, "Choosing a slide by V(afterstate)", False),
    ):
        drawing.text(left + 10, 34, title, size=16, bold=True, at="start")
        middle = left + 170
        drawing.state(middle, 72, "s")
        for number, slide in enumerate("URDL"):
            x = middle - 126 + 84 * number
            drawing.arrow(middle + (x - middle) * 0.16, 88, x, 136)
            drawing.text(middle + (x - middle) * 0.62 + (9 if x > middle else -9), 116, slide, size=12, colour=GREY)
            if of_states:
                for shift in (-26, 0, 26):
                    drawing.arrow(x + shift * 0.2, 168, x + shift, 214, chance=True)
                    drawing.state(x + shift, 226, valued=True, radius=9)
            drawing.after(x, 152, "s′", valued=not of_states)
        if of_states:
            drawing.text(middle, 266, "argmax over slides of r + E[ V(s″) ]", size=14)
            drawing.text(middle, 286, "every empty cell, a 2 or a 4: about 40 look-ups", size=12, colour=GREY)
        else:
            drawing.text(middle, 216, "argmax over slides of r + V(s′)", size=14)
            drawing.text(middle, 236, "one look-up a slide", size=12, colour=GREY)
    legend(drawing, 312)
    drawing.save(path)


def targets(path: Path) -> None:
    """How far each target looks before it trusts a value."""
    drawing = Drawing(780, 330, "Targets: TD(0), n-step and TD(lambda)")
    xs = [200 + 96 * number for number in range(6)]

    def chain(y: int, valued: set[int]) -> None:
        for number, x in enumerate(xs):
            if number:
                drawing.arrow(xs[number - 1] + 16, y, x - 17, y)
            drawing.after(x, y, f"x{'₀₁₂₃₄₅'[number]}", valued=number in valued)

    drawing.text(28, 70, "TD(0)", size=16, bold=True, at="start")
    chain(64, {0, 1})
    drawing.back(f"M{xs[1]} 46 C{xs[1]} 22 {xs[0]} 22 {xs[0]} 46")
    drawing.text(28, 158, "3-step TD", size=16, bold=True, at="start")
    chain(152, {0, 3})
    drawing.back(f"M{xs[3]} 134 C{xs[3]} 98 {xs[0]} 98 {xs[0]} 134")
    drawing.text(28, 252, "TD(λ)", size=16, bold=True, at="start")
    chain(246, {0, 1, 2, 3, 4, 5})
    for number, share in enumerate(("1 − λ", "(1 − λ) λ", "(1 − λ) λ²"), start=1):
        top = 228 - 16 * number
        drawing.back(f"M{xs[number]} 228 C{xs[number]} {top} {xs[0]} {top} {xs[0]} 228")
        drawing.text(xs[number], 280, share, size=12, colour=ORANGE)
    drawing.text(xs[4] - 10, 280, "…", size=14, colour=ORANGE)
    drawing.text(
        390,
        314,
        "Blue positions are looked up; each arrow of a chain is a slide with its reward and a new tile.",
        size=12,
        colour=GREY,
    )
    drawing.save(path)


def draw(folder: Path) -> None:
    """Draw all of them."""
    backup(folder / "backup.svg")
    selection(folder / "selection.svg")
    targets(folder / "targets.svg")


if __name__ == "__main__":
    draw(Path(__file__).parent / "images")
