"""Uses an agent through the OpenAI API: the agent is the model, and its tools run on the server."""

import os
import sys

from openai import OpenAI

URL = os.environ.get("NETACLAW_URL", "http://127.0.0.1:7300")
TOKEN = os.environ.get("NETACLAW_TOKEN", "")

content = sys.argv[1] if len(sys.argv) > 1 else "hello"

with OpenAI(base_url=f"{URL}/v1", api_key=TOKEN) as client:
    stream = client.chat.completions.create(
        model="default",  # the name of an agent
        messages=[{"role": "user", "content": content}],
        stream=True,
    )
    for chunk in stream:
        for choice in chunk.choices:
            print(choice.delta.content or "", end="", flush=True)
    print()
