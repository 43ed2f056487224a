"""The command line ``zerda-bench``: what commands there are, and how failures end.

Exit codes: 0 done, 1 failed while running, 2 wrong usage, 130 interrupted. A failure is one line on stderr; with
``--debug`` the traceback too. Only typer is imported here: everything heavy waits until a command runs.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from zerda_bench.eval import cli_info, cli_results, cli_run
from zerda_bench.eval.cli_output import explained

__all__ = ["app", "main"]

# Help as plain text: markup would eat the square brackets of extras, and importing rich takes longer than all the rest.
app = typer.Typer(
    name="zerda-bench",
    help="Measure hybrid retrieval: BM25, dense vectors and their fusion, on test collections.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(cli_run.run)
app.command("datasets")(cli_info.datasets)
app.command("variants")(cli_info.variants)
app.command("compare")(cli_results.compare)
app.command("show")(cli_results.show)
app.command("warmup")(cli_info.warmup)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"zerda-bench {version('zerda-bench')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """Measure hybrid retrieval: BM25, dense vectors and their fusion, on test collections."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal cannot show must not end a run of hours.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        answer: Any = typer.main.get_command(app).main(args=words, prog_name="zerda-bench", standalone_mode=False)
        sys.stdout.flush()
        return answer if isinstance(answer, int) else 0
    except BrokenPipeError:
        # Whoever read the output has enough; Python would complain once more on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, typer.Abort):
        print("zerda-bench: interrupted", file=sys.stderr)
        return 130
    except Exception as error:  # noqa: BLE001 - the last stop before the user
        if "--debug" in words:
            traceback.print_exc()
        message, code = explained(error)
        print(f"zerda-bench: {message}", file=sys.stderr)
        return code


if __name__ == "__main__":
    sys.exit(main())
