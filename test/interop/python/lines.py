"""How a test directs a peer: JSON, a line each way.

in   {"id": 1, "agent": URL, "binding": "GRPC", "method": "SendMessage", "request": {...}}   call an agent
     {"id": 1, "leave": true}                                                               leave that call
out  {"ready": {...}}                                                                       where the peer is reached
     {"id": 1, "answer": {...}}                                                             what the call returned: 0, 1 or more
     {"id": 1, "end": true}                                                                 no more follows, or
     {"id": 1, "error": {...}}                                                              the call has failed

The peer ends with its standard input.
"""

import asyncio
import json
import sys


def say(line):
    print(json.dumps(line), flush=True)


async def obey(ready, call, describe_error):
    """Makes the calls that come in, side by side. `call(order)` yields answers; `describe_error(error)` is a dict."""
    reader = asyncio.StreamReader(limit=2**24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    say({"ready": ready})
    calls = {}

    async def make(order):
        number = order["id"]
        try:
            async for answer in call(order):
                say({"id": number, "answer": answer})
            say({"id": number, "end": True})
        except asyncio.CancelledError:
            say({"id": number, "end": True})
        except Exception as error:
            say({"id": number, "error": describe_error(error)})
        finally:
            del calls[number]

    while line := await reader.readline():
        order = json.loads(line)
        if not order.get("leave"):
            calls[order["id"]] = asyncio.create_task(make(order))
        elif order["id"] in calls:
            calls[order["id"]].cancel()
