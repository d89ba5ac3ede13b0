"""The system without a key: a server for chats on this machine, for as long as it runs.

    python -m responsa.testing.chat --port 8808

It quotes the passages that it is given, so that every command that asks a language model can be tried. It is no
language model: what it says is found by words in common.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Sequence

from responsa.errors import ResponsaError
from responsa.testing.completions import FAULTS, ChatServer

__all__ = ["FAULTS", "ChatServer", "main"]


def main(arguments: Sequence[str] | None = None, stop: threading.Event | None = None) -> int:
    """Serve until ``stop`` is set or the process is interrupted."""
    parser = argparse.ArgumentParser(prog="python -m responsa.testing.chat", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--port", type=int, default=8808, help="port on 127.0.0.1; 0 for a free one")
    parser.add_argument("--seed", type=int, default=0, help="which requests meet the faults")
    parser.add_argument(
        "--share",
        action="append",
        default=[],
        metavar="FAULT=SHARE",
        help=f"let a share of the requests go wrong, such as 429=.1; faults: a status, {', '.join(FAULTS)}",
    )
    options = parser.parse_args(arguments)
    try:
        share = {fault: float(value) for fault, _, value in (each.partition("=") for each in options.share)}
        server = ChatServer(port=options.port, share=share, seed=options.seed, kept=0)
    except ValueError:
        parser.error("--share: expected FAULT=SHARE, such as 429=.1")
    except OSError as error:
        sys.stderr.write(f"port {options.port}: {error.strerror}; name another with --port, or 0 for a free one\n")
        return 1
    except (OverflowError, ResponsaError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    with server:
        sys.stdout.write(f"Serving chats at {server.url}. In another terminal:\n\n")
        sys.stdout.write(f"  export RESPONSA_CHAT_MODEL='{server.url}#local'\n\nEnd with Ctrl-C.\n")
        sys.stdout.flush()
        try:
            (stop or threading.Event()).wait()
        except KeyboardInterrupt:
            sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
