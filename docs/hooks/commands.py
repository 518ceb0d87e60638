"""All commands and their options, for docs/commands.md, made from the command line itself."""

from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from typer.main import get_command

from afterstate.cli.main import app

MARK = "<!-- all commands -->"


def cell(text: str) -> str:
    """A text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def row(option: Any) -> str:
    """An option or an argument as a line of a table."""
    is_argument = option.param_type_name == "argument"
    words = [option.name.upper()] if is_argument else [*option.opts, *option.secondary_opts]
    name = ", ".join(f"`{word}`{{.option}}" for word in words)
    default = "" if option.default in (None, False, ()) or option.required else f" [default: {option.default}]"
    return f"| {name} | {cell((option.help or '') + default)} |"


def paragraph(text: str) -> str:
    """A paragraph of a help text; one that begins with \\b keeps its lines, as on the terminal."""
    return f"```text{text[1:]}\n```" if text.startswith("\b") else text


def write_command(name: str, command: Any) -> str:
    """One command: what it does, and its options."""
    rows = [row(option) for option in command.params if option.name != "help"]
    about = "\n\n".join(map(paragraph, command.help.split("\n\n")))
    return f"## afterstate {name}\n\n{about}\n\n| option | what it does |\n|---|---|\n" + "\n".join(rows)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the commands where a page asks for them."""
    if MARK not in markdown:
        return markdown
    program: Any = get_command(app)
    commands = (write_command(name, command) for name, command in program.commands.items())
    return markdown.replace(MARK, "\n\n".join([program.epilog, *commands]))
