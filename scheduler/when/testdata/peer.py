"""Answers recurrences with dateutil: one JSON object a line in, the instants as seconds since 1970 in one line out.

start and until are the clock on the wall. A wall time that does not exist comes right after the gap, one that comes
twice the first time.
"""
import json
import sys
from datetime import datetime, timedelta

from dateutil import rrule, tz

for line in sys.stdin:
    ask = json.loads(line)
    zone = tz.gettz(ask["zone"])
    start, until = (datetime.fromisoformat(ask[k]) for k in ("start", "until"))
    out = []
    for wall in rrule.rrulestr(ask["rule"], dtstart=start):
        if wall > until:
            break
        while not tz.datetime_exists(wall, zone):
            wall += timedelta(minutes=1)
        out.append(int(wall.replace(tzinfo=zone).timestamp()))
    print(json.dumps(out), flush=True)
