"""A peer of the official Python SDK: an agent over its three bindings, and a caller over each of them.

The agent knows some commands of the reference agent (`echo`, `task`, `stream`, `ask`, `sleep`, `fail`), and the instructions
of the circuit.
"""

import asyncio
import contextlib
import json
import logging
import socket
import sys

import grpc
import httpx
import uvicorn
from a2a.client import ClientConfig, create_client
from a2a.client.card_resolver import A2ACardResolver
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import a2a_pb2 as a2a
from a2a.types import a2a_pb2_grpc
from a2a.utils.errors import A2A_ERROR_REASONS
from a2a.utils.signing import create_agent_card_signer, create_signature_verifier
from google.protobuf.json_format import MessageToDict, ParseDict
from jwt.api_jwk import PyJWK
from starlette.applications import Starlette

from circuit import follow_instruction, read_instruction
from lines import obey

logging.disable(logging.ERROR)  # the SDK logs each error that it answers with

# Each method's request, and the client's method for it.
CALLS = {
    "SendMessage": (a2a.SendMessageRequest, "send_message"),
    "SendStreamingMessage": (a2a.SendMessageRequest, "send_message"),
    "SubscribeToTask": (a2a.SubscribeToTaskRequest, "subscribe"),
    "GetTask": (a2a.GetTaskRequest, "get_task"),
    "ListTasks": (a2a.ListTasksRequest, "list_tasks"),
    "CancelTask": (a2a.CancelTaskRequest, "cancel_task"),
    "GetExtendedAgentCard": (a2a.GetExtendedAgentCardRequest, "get_extended_agent_card"),
    "CreateTaskPushNotificationConfig": (a2a.TaskPushNotificationConfig, "create_task_push_notification_config"),
    "GetTaskPushNotificationConfig": (
        a2a.GetTaskPushNotificationConfigRequest,
        "get_task_push_notification_config",
    ),
    "ListTaskPushNotificationConfigs": (
        a2a.ListTaskPushNotificationConfigsRequest,
        "list_task_push_notification_configs",
    ),
    "DeleteTaskPushNotificationConfig": (
        a2a.DeleteTaskPushNotificationConfigRequest,
        "delete_task_push_notification_config",
    ),
}


@contextlib.asynccontextmanager
async def connect(agent, binding, streaming, webhook=None):
    """A client of the SDK for the agent at that URL."""
    async with httpx.AsyncClient(timeout=60) as http:
        config = ClientConfig(
            streaming=streaming,
            httpx_client=http,
            grpc_channel_factory=grpc.aio.insecure_channel,
            supported_protocol_bindings=[binding],
            push_notification_config=webhook,
        )
        client = await create_client(agent, client_config=config)
        try:
            yield client
        finally:
            await client.close()


async def call(order):
    if order["method"] == "GetAgentCard":
        async with httpx.AsyncClient() as http:
            verifier = order.get("key") and create_signature_verifier(lambda *_: PyJWK.from_dict(order["key"]), ["ES256"])
            yield MessageToDict(await A2ACardResolver(http, order["agent"]).get_agent_card(signature_verifier=verifier))
        return
    request_type, method = CALLS[order["method"]]
    async with connect(order["agent"], order["binding"], order["method"] != "SendMessage") as client:
        made = getattr(client, method)(ParseDict(order["request"], request_type()))
        if hasattr(made, "__aiter__"):
            async for answer in made:
                yield MessageToDict(answer)
        else:
            answer = await made
            yield {} if answer is None else MessageToDict(answer)


def describe_error(error):
    return {"reason": A2A_ERROR_REASONS.get(type(error)), "message": repr(error)}


class Agent(AgentExecutor):
    async def execute(self, context, event_queue):
        task = TaskUpdater(event_queue, context.task_id, context.context_id)
        command, _, words = context.get_user_input().partition(" ")
        if command == "echo":
            await event_queue.enqueue_event(task.new_agent_message([a2a.Part(text=words)]))
            return
        if context.current_task is None:
            await event_queue.enqueue_event(
                a2a.Task(
                    id=context.task_id,
                    context_id=context.context_id,
                    status=a2a.TaskStatus(state=a2a.TASK_STATE_SUBMITTED),
                    history=[context.message],
                )
            )
            if command == "ask":
                await task.requires_input(task.new_agent_message([a2a.Part(text=words)]))
                return
        await task.start_work()
        if (instruction := read_instruction(context.message)) is not None:
            await follow_instruction(instruction, task, connect)
            return
        match command:
            case "stream":
                for index in range(1, int(words) + 1):
                    await task.add_artifact([a2a.Part(text=f"chunk {index} ")], "stream", append=index > 1)
            case "sleep":
                await asyncio.Event().wait()
            case "fail":
                await task.failed(task.new_agent_message([a2a.Part(text=words)]))
                return
            case "task":
                await task.add_artifact([a2a.Part(text=words)], name="result")
            case _:  # the answer to a question, or what only comes back
                await task.add_artifact(list(context.message.parts), name="answer")
        await task.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


MODES = ["text/plain", "application/json", "application/octet-stream"]


def describe_agent(ready):
    interfaces = [a2a.AgentInterface(protocol_binding=name, url=url, protocol_version="1.0") for name, url in ready.items()]
    return a2a.AgentCard(
        name="Python",
        description="An agent of the official Python SDK.",
        version="1.0.0",
        supported_interfaces=interfaces,
        capabilities=a2a.AgentCapabilities(streaming=True, push_notifications=True, extended_agent_card=True),
        default_input_modes=MODES,
        default_output_modes=MODES,
        skills=[a2a.AgentSkill(id="commands", name="Commands", description="Does what a text says.", tags=["test"])],
    )


async def main():
    options = json.loads(sys.argv[1])
    listening = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    grpc_server = grpc.aio.server()
    grpc_port = grpc_server.add_insecure_port("127.0.0.1:0")
    ready = {"JSONRPC": f"{url}/rpc", "HTTP+JSON": f"{url}/rest", "GRPC": f"127.0.0.1:{grpc_port}"}
    card = describe_agent(ready)
    if key := options.get("signingKey"):
        create_agent_card_signer(PyJWK.from_dict(key), {"alg": "ES256", "kid": key["kid"], "typ": "JOSE"})(card)
    async with httpx.AsyncClient() as http:
        webhooks = InMemoryPushNotificationConfigStore()
        handler = DefaultRequestHandler(
            agent_executor=Agent(),
            task_store=InMemoryTaskStore(),
            agent_card=card,
            extended_agent_card=card,
            push_config_store=webhooks,
            push_sender=BasePushNotificationSender(http, webhooks),
        )
        a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(handler), grpc_server)
        await grpc_server.start()
        routes = create_agent_card_routes(card) + create_jsonrpc_routes(handler, "/rpc")
        app = Starlette(routes=routes + create_rest_routes(handler, path_prefix="/rest"))
        http_server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
        serving = asyncio.create_task(http_server.serve(sockets=[listening]))
        await obey({"url": url, **ready}, call, describe_error)
        http_server.should_exit = http_server.force_exit = True
        await serving
        await grpc_server.stop(0)


asyncio.run(main())
