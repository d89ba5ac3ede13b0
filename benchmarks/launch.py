"""Runs one command and prints its exit status, wall time and peak memory; imports next to nothing, on purpose.

Linux counts into the peak memory of a process that of the process it was started from, up to the moment the
program is loaded. A benchmark that holds a corpus would so report its own size. This launcher stands between:
a bare interpreter of about 10 MB. Called as ``python -I -S launch.py OUTPUT COMMAND...``; the command's
standard output goes to the file OUTPUT, its errors to ours.
"""

import os
import sys
import time

output, *command = sys.argv[1:]
target = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
start = time.perf_counter()
process = os.posix_spawnp(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, target, 1)])
_, status, usage = os.wait4(process, 0)
wall = time.perf_counter() - start
peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(os.waitstatus_to_exitcode(status), wall, peak)
