"""A peer of grpcio alone, with the stubs that its own tools make of our proto.

It calls agents, and it is a gateway: a server that passes each call on to the agent that its argument names.
"""

import asyncio
import sys

import grpc
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2, status_pb2

from lf.a2a.v1 import a2a_pb2, a2a_pb2_grpc
from lines import obey

METHODS = a2a_pb2.DESCRIPTOR.services_by_name["A2AService"].methods_by_name
STATUS = "grpc-status-details-bin"
VERSION = ("a2a-version", "1.0")


def read_status(error):
    """The google.rpc.Status behind a failed call."""
    status = status_pb2.Status(code=error.code().value[0], message=error.details())
    for key, value in error.trailing_metadata():
        if key == STATUS:
            status.ParseFromString(value)
    return status


def describe_error(error):
    if not isinstance(error, grpc.RpcError):
        return {"message": repr(error)}
    status = read_status(error)
    described = {"message": status.message, "code": error.code().name}
    for detail in status.details:
        if detail.Is(error_details_pb2.ErrorInfo.DESCRIPTOR):
            info = error_details_pb2.ErrorInfo()
            detail.Unpack(info)
            described |= {"reason": info.reason, "domain": info.domain, "metadata": dict(info.metadata)}
    return described


async def call(order):
    async with grpc.aio.insecure_channel(order["agent"]) as channel:
        method = METHODS[order["method"]]
        request = ParseDict(order["request"], GetMessageClass(method.input_type)())
        made = getattr(a2a_pb2_grpc.A2AServiceStub(channel), method.name)(request, metadata=(VERSION,))
        if method.server_streaming:
            async for answer in made:
                yield MessageToDict(answer)
        else:
            yield MessageToDict(await made)


def passed_on(context):
    """A caller's metadata, without what belongs to its connection."""
    return [(key, value) for key, value in context.invocation_metadata() if key.startswith("a2a-")]


async def refuse(context, error):
    status = read_status(error)
    await context.abort(error.code(), status.message, ((STATUS, status.SerializeToString()),))


def gateway(stub):
    """The servicer that grpcio-tools made, with every method passed on."""

    def unary(name):
        async def answer(_self, request, context):
            try:
                return await getattr(stub, name)(request, metadata=passed_on(context))
            except grpc.RpcError as error:
                await refuse(context, error)

        return answer

    def streaming(name):
        async def answer(_self, request, context):
            try:
                async for event in getattr(stub, name)(request, metadata=passed_on(context)):
                    yield event
            except grpc.RpcError as error:
                await refuse(context, error)

        return answer

    answers = {name: (streaming if method.server_streaming else unary)(name) for name, method in METHODS.items()}
    return type("Gateway", (a2a_pb2_grpc.A2AServiceServicer,), answers)()


async def main():
    async with grpc.aio.insecure_channel(sys.argv[1]) as channel:
        server = grpc.aio.server()
        a2a_pb2_grpc.add_A2AServiceServicer_to_server(gateway(a2a_pb2_grpc.A2AServiceStub(channel)), server)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        await obey({"GRPC": f"127.0.0.1:{port}"}, call, describe_error)
        await server.stop(0)


asyncio.run(main())
