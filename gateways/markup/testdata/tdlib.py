#!/usr/bin/env python3
"""Asks Telegram's own parser, offline: each line of the input is a request to td_execute, each line of the output its answer.
TDJSON names the library, libtdjson.so of TDLib; `make peers` fetches it."""
import ctypes
import os
import sys

library = ctypes.CDLL(os.environ["TDJSON"])
library.td_execute.restype = ctypes.c_char_p
library.td_execute.argtypes = [ctypes.c_char_p]
library.td_execute(b'{"@type":"setLogVerbosityLevel","new_verbosity_level":0}')
for line in sys.stdin.buffer:
    sys.stdout.buffer.write((library.td_execute(line.strip()) or b"null") + b"\n")
    sys.stdout.buffer.flush()
