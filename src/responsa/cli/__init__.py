"""The command line: each command parses, calls one function of the library and prints."""

from __future__ import annotations

import sys

from responsa.errors import ResponsaError

_INTERRUPTED = "responsa: interrupted; nothing is left half done"


def main() -> None:
    """The ``responsa`` command. Exit 0 done, 1 something the user can fix, 2 wrong usage."""
    from responsa.cli.app import app

    try:
        app()
    except ResponsaError as error:
        sys.exit(f"responsa: {error}")
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except SystemExit as end:
        if end.code != 130:  # what typer makes of Ctrl-C, without a word
            raise
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output (head, less) has gone; a second complaint at exit helps nobody.
        sys.stderr.close()
        sys.exit(1)
