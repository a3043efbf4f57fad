"""An agent's part in the circuit (instruction.proto): it does what the instruction says, and returns the texts."""

import asyncio
import uuid

from a2a.types import a2a_pb2 as a2a

from instruction_pb2 import Instruction

MEDIA_TYPE = "application/x-protobuf"
FINISHED = "task-finished"


def read_instruction(message):
    for part in message.parts:
        if part.media_type == MEDIA_TYPE:
            return Instruction.FromString(part.raw)
    return None


def is_held(instruction):
    steps = instruction.steps.instructions
    return instruction.return_response.hold_task or any(is_held(step) for step in steps)


async def follow_instruction(instruction, task, connect):
    """Does it as a task. `connect` makes clients."""
    text = "\n".join(await collect(instruction, connect))
    if is_held(instruction):
        await task.start_work(task.new_agent_message([a2a.Part(text=f"{text}\n{FINISHED}")]))
        await asyncio.Event().wait()
    await task.complete(task.new_agent_message([a2a.Part(text=text)]))


async def collect(instruction, connect):
    match instruction.WhichOneof("step"):
        case "return_response":
            return [instruction.return_response.response]
        case "steps":
            return [text for step in instruction.steps.instructions for text in await collect(step, connect)]
        case "call_agent":
            return await call_agent(instruction.call_agent, connect)


async def call_agent(order, connect):
    webhook = None
    if order.HasField("push_notification"):
        webhook = a2a.TaskPushNotificationConfig(url=f"{order.push_notification.url}/notifications", token="itk-token")
    part = a2a.Part(raw=order.instruction.SerializeToString(), media_type=MEDIA_TYPE, filename="instruction.bin")
    message = a2a.Message(message_id=str(uuid.uuid4()), role=a2a.ROLE_USER, parts=[part])
    async with connect(order.agent_card_uri, order.transport, order.streaming, webhook) as client:
        events = client.send_message(a2a.SendMessageRequest(message=message))
        if order.HasField("resubscribe"):
            return await resubscribe(client, events)
        return [text async for event in events for text in texts_of(event)]


async def resubscribe(client, events):
    first = await anext(events)
    await events.aclose()
    task_id = first.task.id or first.status_update.task_id
    subscription = client.subscribe(a2a.SubscribeToTaskRequest(id=task_id))
    async for event in subscription:
        texts = texts_of(event)
        if any(FINISHED in text for text in texts):
            break
    await subscription.aclose()
    await client.cancel_task(a2a.CancelTaskRequest(id=task_id))
    return [text.replace(FINISHED, "").strip() for text in texts]


def texts_of(event):
    """The texts of an answer: of a message, or of a task's status."""
    message = event.message
    if event.HasField("task"):
        message = event.task.status.message
    elif event.HasField("status_update"):
        message = event.status_update.status.message
    return [part.text for part in message.parts if part.text]
