"""The openai SDK, unchanged: an agent is a model."""

import asyncio

import openai
import pytest
from processes import TOKEN

HELLO = [{"role": "user", "content": "hello"}]


@pytest.fixture
def client(netaclaw):
    # Without retries, so that an error is seen as it is.
    with openai.OpenAI(base_url=f"{netaclaw.url}/v1", api_key=TOKEN, max_retries=0, timeout=30) as client:
        yield client


def test_an_answer_with_its_usage(client, model):
    model.reply(text="你好 👋", input=12, output=7)
    answer = client.chat.completions.create(model="default", messages=HELLO)
    [choice] = answer.choices
    assert (choice.message.role, choice.message.content, choice.finish_reason) == ("assistant", "你好 👋", "stop")
    assert (answer.object, answer.model) == ("chat.completion", "default")
    usage = answer.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (12, 7, 19)


def test_a_streamed_answer_with_its_usage(client, model):
    said = "one word after the other, and at the end the tokens"
    model.reply(thinking="hm", text=said, input=3, output=2)
    stream = client.chat.completions.create(
        model="default", messages=HELLO, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    choices = [choice for chunk in chunks for choice in chunk.choices]
    assert "".join(choice.delta.content or "" for choice in choices) == said
    assert choices[0].delta.role == "assistant"
    assert [choice.finish_reason for choice in choices if choice.finish_reason] == ["stop"]
    assert len({chunk.id for chunk in chunks}) == 1
    assert (chunks[-1].usage.prompt_tokens, chunks[-1].usage.completion_tokens) == (3, 2)
    assert all(chunk.usage is None for chunk in chunks[:-1])


def test_tools_run_on_the_server_and_what_was_said_before_counts(client, model):
    model.reply(toolCall={"id": "call_1", "name": "ls", "arguments": '{"path": "."}'})
    model.reply(text="nothing there")
    messages = [
        {"role": "system", "content": "Answer briefly."},
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "second"},
        {"role": "user", "content": [{"type": "text", "text": "third"}]},
    ]
    answer = client.chat.completions.create(model="default", messages=messages)
    assert answer.choices[0].message.content == "nothing there"
    asked = model.tell(requests=True)[-1]["messages"]
    said = [message["content"] for message in asked if message["role"] in ("user", "assistant")]
    first, *rest = [text for text in said if text]
    # The caller's instructions do not replace those of the agent, which are the system prompt.
    assert first.startswith("Answer briefly.") and first.endswith("first")
    assert rest == ["second", "third"]
    assert asked[-1]["role"] == "tool"


def test_the_agents_are_the_models(client):
    models = client.models.list()
    assert [model.id for model in models] == ["default"]
    assert client.models.retrieve("default").id == "default"


def test_errors_have_the_classes_of_the_sdk(netaclaw, client, model):
    with pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="wrong").models.list()
    with pytest.raises(openai.NotFoundError) as unknown:
        client.chat.completions.create(model="missing", messages=HELLO)
    assert "missing" in unknown.value.message
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="default", messages=[])
    model.reply(status=401)
    with pytest.raises(openai.APIStatusError) as failed:
        client.chat.completions.create(model="default", messages=HELLO)
    assert failed.value.status_code >= 500, "the channel's key is not the caller's affair"


def test_who_stops_listening_stops_the_model(netaclaw, model):
    gone = model.tell(aborts=0)
    model.reply(text="one two three four five six", hangAfter=3)

    async def listen_a_little():
        async with openai.AsyncOpenAI(base_url=f"{netaclaw.url}/v1", api_key=TOKEN, max_retries=0) as client:
            async with await client.chat.completions.create(model="default", messages=HELLO, stream=True) as stream:
                async for chunk in stream:
                    if chunk.choices[0].delta.content:
                        break

    asyncio.run(listen_a_little())
    assert model.tell(aborts=gone + 1) == gone + 1
