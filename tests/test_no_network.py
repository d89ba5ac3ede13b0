"""The main job opens no socket: from files to a cited answer, verified and scored."""

import subprocess
import sys

CHILD = """
import socket, sys

def refuse(*_):
    raise AssertionError("a socket was opened")

socket.socket.connect = socket.socket.bind = socket.getaddrinfo = socket.create_connection = refuse
from responsa.cli import main

folder, questions = sys.argv[1:]
for arguments in (
    ["add", "--sample"],
    ["ask", "What must a firm do when it suspects money laundering?", "--save"],
    ["search", "tipping off"],
    ["run", questions, "--out", folder + ".run"],
    ["answer", questions, "--out", folder + ".json"],
    ["score", "run", folder + ".run", "--gold", questions],
    ["documents"],
    ["verify"],
):
    sys.argv = ["responsa", "--library", folder, *arguments]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
"""


def test_the_main_job_opens_no_socket(tmp_path):
    from responsa import sample

    command = [sys.executable, "-c", CHILD, str(tmp_path / "library"), str(sample.questions())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "checked, 0 failed" in done.stdout
