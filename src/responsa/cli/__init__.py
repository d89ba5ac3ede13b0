"""The command line: each command parses, calls one function of the library and prints."""

from __future__ import annotations

import errno
import io
import os
import sys

from responsa.errors import ResponsaError

_INTERRUPTED = "responsa: interrupted; nothing is left half done"


def main() -> None:
    """The ``responsa`` command. Exit 0 done, 1 something the user can fix, 2 wrong usage."""
    from responsa.cli.app import app
    from responsa.cli.output import clean

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who started us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except ResponsaError as error:
        sys.exit(clean(f"responsa: {error}"))
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except SystemExit as end:
        if end.code != 130:  # what typer makes of Ctrl-C, without a word
            raise
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output (head, less) has gone; a second complaint at exit helps nobody.
        _drop_output()
        sys.exit(1)
    except OSError as error:
        if error.filename or error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise
        _drop_output()
        sys.exit(f"responsa: the output cannot be written: {error.strerror}")


def _drop_output() -> None:
    """What is still to be written to stdout goes nowhere: the interpreter would fail on it once more at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
