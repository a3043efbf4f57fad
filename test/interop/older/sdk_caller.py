"""The client of the official Python SDK 0.3, directed by the lines of `../python/lines.py`: an order is a scenario."""

import asyncio
import contextlib
import logging
import sys
import uuid
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "python"))

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    Message,
    MessageSendConfiguration,
    Part,
    PushNotificationConfig,
    Role,
    TaskArtifactUpdateEvent,
    TaskIdParams,
    TextPart,
)

from lines import obey

logging.disable(logging.ERROR)


@contextlib.asynccontextmanager
async def connect(agent, transport, webhook):
    async with httpx.AsyncClient(timeout=60) as http:
        card = await A2ACardResolver(http, agent).get_agent_card()
        config = ClientConfig(
            httpx_client=http,
            grpc_channel_factory=grpc.aio.insecure_channel,
            supported_transports=[transport],
            use_client_preference=True,
            push_notification_configs=[PushNotificationConfig(url=webhook, token="the-token")] if webhook else [],
        )
        yield ClientFactory(config).create(card), card


def user_message(text, task_id=None):
    return Message(message_id=str(uuid.uuid4()), role=Role.user, parts=[Part(root=TextPart(text=text))], task_id=task_id)


def text_of(parts):
    return "".join(part.root.text for part in parts or [] if isinstance(part.root, TextPart))


def outcome(task):
    texts = [text_of(artifact.parts) for artifact in task.artifacts or []]
    return {"state": task.status.state.value, "text": "".join(texts)}


async def last(events):
    async for task, _ in events:
        pass
    return task


async def discover(client, card):
    return {"name": card.name, "protocolVersion": card.protocol_version}


async def send(client, card):
    client._config.streaming = False  # as an agent is called whose answer is wanted whole
    return outcome(await last(client.send_message(user_message("task hello"))))


async def stream(client, card):
    chunks = 0
    async for task, update in client.send_message(user_message("stream 3 20")):
        chunks += isinstance(update, TaskArtifactUpdateEvent)
    return {"chunks": chunks, **outcome(task)}


async def question(client, card):
    asked = await last(client.send_message(user_message("ask What?")))
    answered = await last(client.send_message(user_message("Ada", asked.id)))
    return {"asked": asked.status.state.value, "question": text_of(asked.status.message.parts), **outcome(answered)}


async def cancel(client, card):
    client._config.streaming = False
    at_once = MessageSendConfiguration(blocking=False)
    task = await last(client.send_message(user_message("sleep 3600000"), configuration=at_once))
    return {"before": task.status.state.value in ("submitted", "working"), **outcome(await client.cancel_task(TaskIdParams(id=task.id)))}


async def resubscribe(client, card):
    events = client.send_message(user_message("stream 5 300"))
    async for task, update in events:
        if isinstance(update, TaskArtifactUpdateEvent):
            break
    await events.aclose()
    return outcome(await last(client.resubscribe(TaskIdParams(id=task.id))))


async def push(client, card):
    return outcome(await last(client.send_message(user_message("task hello"))))


SCENARIOS = {each.__name__: each for each in (discover, send, stream, question, cancel, resubscribe, push)}


async def call(order):
    method = order["method"]
    webhook = order["request"]["webhook"] if method == "push" else None
    async with connect(order["agent"], order["binding"], webhook) as (client, card):
        yield await SCENARIOS[method](client, card)


asyncio.run(obey({"url": "", "GRPC": ""}, call, lambda error: {"message": repr(error)}))
