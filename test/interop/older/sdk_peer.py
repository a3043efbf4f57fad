"""A peer of the official Python SDK 0.3: an agent over its three transports, and a caller over each of them.

It is directed by the lines of `../python/lines.py`; an order is a scenario. The agent knows some commands of the reference agent.
"""

import asyncio
import contextlib
import logging
import socket
import sys
import uuid
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "python"))

import grpc
import httpx
import uvicorn
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.grpc import a2a_pb2_grpc
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    MessageSendConfiguration,
    Part,
    PushNotificationConfig,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskIdParams,
    TaskState,
    TaskStatus,
    TextPart,
)
from starlette.routing import Mount

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


class Agent(AgentExecutor):
    async def execute(self, context, event_queue):
        task = TaskUpdater(event_queue, context.task_id, context.context_id)
        command, _, words = context.get_user_input().partition(" ")
        say = lambda text: task.new_agent_message([Part(root=TextPart(text=text))])
        if command == "echo":
            await event_queue.enqueue_event(say(words))
            return
        if context.current_task is None:
            status = TaskStatus(state=TaskState.submitted)
            opened = Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
            await event_queue.enqueue_event(opened)
            if command == "ask":
                await task.requires_input(say(words), final=True)
                return
        await task.start_work()
        match command:
            case "stream":
                for index in range(1, int(words) + 1):
                    part = Part(root=TextPart(text=f"chunk {index} "))
                    await task.add_artifact([part], "stream", append=index > 1)
            case "sleep":
                await asyncio.Event().wait()
            case "fail":
                await task.failed(say(words))
                return
            case "task":
                await task.add_artifact([Part(root=TextPart(text=words))], name="result")
            case _:  # the answer to a question, or what only comes back
                await task.add_artifact(list(context.message.parts), name="answer")
        await task.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def describe_agent(url, authority):
    transports = {"JSONRPC": f"{url}/rpc", "HTTP+JSON": f"{url}/rest", "GRPC": authority}
    return AgentCard(
        name="Python 0.3",
        description="An agent of the official Python SDK 0.3.",
        version="1.0.0",
        url=transports["JSONRPC"],
        additional_interfaces=[AgentInterface(transport=name, url=at) for name, at in transports.items()],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        supports_authenticated_extended_card=True,
        default_input_modes=["*/*"],
        default_output_modes=["*/*"],
        skills=[AgentSkill(id="commands", name="Commands", description="Does what a text says.", tags=["test"])],
    )


async def main():
    listening = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    grpc_server = grpc.aio.server()
    authority = f"127.0.0.1:{grpc_server.add_insecure_port('127.0.0.1:0')}"
    card = describe_agent(url, authority)
    async with httpx.AsyncClient() as http:
        webhooks = InMemoryPushNotificationConfigStore()
        sender = BasePushNotificationSender(http, webhooks)
        handler = DefaultRequestHandler(Agent(), InMemoryTaskStore(), push_config_store=webhooks, push_sender=sender)
        a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(card, handler), grpc_server)
        await grpc_server.start()
        app = A2AStarletteApplication(card, handler, extended_agent_card=card).build(rpc_url="/rpc")
        app.routes.append(Mount("/rest", app=A2ARESTFastAPIApplication(card, handler, extended_agent_card=card).build()))
        http_server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
        serving = asyncio.create_task(http_server.serve(sockets=[listening]))
        await obey({"url": url, "GRPC": authority}, call, lambda error: {"message": repr(error)})
        http_server.should_exit = http_server.force_exit = True
        await serving
        await grpc_server.stop(0)


asyncio.run(main())
