"""The yardstick: the least a Python program can do to ask a model over HTTP, with the standard library only."""

import http.client
import json
import os
import sys
from urllib.parse import urlsplit


def main(requests: int) -> None:
    """Ask so many times over one connection, reading each stream to its end."""
    host = urlsplit(os.environ["ANTHROPIC_BASE_URL"]).netloc
    connection = http.client.HTTPConnection(host, timeout=60)
    body = {"model": "claude", "max_tokens": 100, "stream": True, "messages": [{"role": "user", "content": "hi"}]}
    headers = {"content-type": "application/json", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    for _ in range(requests):
        connection.request("POST", "/v1/messages", json.dumps(body), headers)
        reply = connection.getresponse()
        for line in reply:
            if line.startswith(b"data: "):
                json.loads(line[6:])


main(int(sys.argv[1]))
