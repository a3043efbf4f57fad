// What gRPC tools expect beside the service itself: health and server reflection, so that no schema is needed.
import { randomUUID } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { status } from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer } from "@grpc/proto-loader";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { runBuf } from "../proto/run-buf.ts";
import { type AgentProcess, startAgentProcess } from "./agent-process.ts";
import {
  createDynamicClient,
  type DynamicClient,
  type Json,
  loaderOptions,
  loadProtos,
} from "./dynamic-client.ts";

const a2aService = "lf.a2a.v1.A2AService";
const noMetadata = { metadata: {} };

let agent: AgentProcess;
beforeAll(async () => {
  agent = await startAgentProcess();
});
afterAll(async () => {
  expect(await agent.stop()).toEqual(new Set());
});

function dial(file: string, service: string): DynamicClient {
  const client = createDynamicClient(agent.authority, loadProtos(file), service);
  onTestFinished(() => client.close());
  return client;
}

describe("gRPC health", () => {
  const dialHealth = () => dial("grpc/health/v1/health.proto", "grpc.health.v1.Health");

  it.each(["", a2aService])("is SERVING for the service %j", async (service) => {
    const response = await dialHealth().unary("Check", { service }, noMetadata);
    expect(response).toEqual({ status: "SERVING" });
  });

  it("does not know other services", async () => {
    const call = dialHealth().unary("Check", { service: "no.such.Service" }, noMetadata);
    await expect(call).rejects.toMatchObject({ code: status.NOT_FOUND });
  });

  it("can be watched", async () => {
    const call = dialHealth().stream("Watch", { service: a2aService }, noMetadata);
    const updates = call[Symbol.asyncIterator]();
    expect((await updates.next()).value).toEqual({ status: "SERVING" });
    call.cancel();
    await expect(updates.next()).rejects.toMatchObject({ code: status.CANCELLED });
  });
});

it("refuses one caller's streams beyond their number, until one has ended", async () => {
  const client = dial("grpc/health/v1/health.proto", "grpc.health.v1.Health");
  const watch = async () => {
    const call = client.stream("Watch", { service: "" }, noMetadata);
    await call[Symbol.asyncIterator]().next();
    return call;
  };
  const calls = await Promise.all(Array.from({ length: 875 }, watch));
  await expect(watch()).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  calls.pop()?.cancel();
  await expect
    .poll(() =>
      watch().then(
        () => "taken",
        () => "refused",
      ),
    )
    .toBe("taken");
});

describe.each(["v1", "v1alpha"])("gRPC server reflection %s", (version) => {
  /** Asks one question after the other on one stream. */
  async function reflect(...questions: Json[]): Promise<Json[]> {
    const service = `grpc.reflection.${version}.ServerReflection`;
    const client = dial(`grpc/reflection/${version}/reflection.proto`, service);
    const call = client.duplex("ServerReflectionInfo", noMetadata);
    for (const question of questions) call.write(question);
    call.end();
    return Array.fromAsync(call);
  }

  it("lists the services", async () => {
    const services = [a2aService, "grpc.health.v1.Health"].map((name) => expect.objectContaining({ name }));
    expect(await reflect({ listServices: "*" })).toMatchObject([
      { listServicesResponse: { service: expect.arrayContaining(services) } },
    ]);
  });

  it("says so when it does not know a name, and goes on", async () => {
    const answers = await reflect({ fileContainingSymbol: "no.such.Name" }, { listServices: "" });
    expect(answers).toMatchObject([
      { messageResponse: "errorResponse", errorResponse: { errorCode: status.NOT_FOUND } },
      { messageResponse: "listServicesResponse" },
    ]);
  });

  it("describes the service, so that a client needs nothing else to call it", async () => {
    const files = await fetchFiles({ fileContainingSymbol: a2aService });
    const set = create(FileDescriptorSetSchema, { file: [...files.values()] });
    const definition = loadFileDescriptorSetFromBuffer(
      Buffer.from(toBinary(FileDescriptorSetSchema, set)),
      loaderOptions,
    );
    const client = createDynamicClient(agent.authority, definition, a2aService);
    onTestFinished(() => client.close());
    // A client made from descriptors knows the fields by their names in the proto.
    const message = { message_id: randomUUID(), role: "ROLE_USER", parts: [{ text: "echo hello" }] };
    const response = await client.unary("SendMessage", { message });
    expect(response).toMatchObject({ message: { role: "ROLE_AGENT", parts: [{ text: "hello" }] } });
  });

  /** The files of an answer and all that they import, imports first, each once. */
  async function fetchFiles(question: Json, files = new Map<string, FileDescriptorProto>()) {
    const [answer] = await reflect(question);
    for (const file of filesIn(answer)) {
      for (const fileByFilename of file.dependency.filter((name) => !files.has(name))) {
        await fetchFiles({ fileByFilename }, files);
      }
      files.set(file.name, file);
    }
    return files;
  }
});

function filesIn(answer: Json | undefined): FileDescriptorProto[] {
  expect(answer).toMatchObject({ fileDescriptorResponse: { fileDescriptorProto: expect.any(Array) } });
  const { fileDescriptorResponse } = answer as { fileDescriptorResponse: { fileDescriptorProto: Buffer[] } }; // just seen
  return fileDescriptorResponse.fileDescriptorProto.map((bytes) =>
    fromBinary(FileDescriptorProtoSchema, bytes),
  );
}

describe("`buf curl` without a schema", () => {
  function curl(protocol: string, method: string, request: Json): Promise<string> {
    const version = "A2A-Version: 1.0";
    const url = `${agent.url}/${a2aService}/${method}`;
    const data = JSON.stringify(request);
    return runBuf("curl", "--http2-prior-knowledge", "--protocol", protocol, "-H", version, "-d", data, url);
  }
  const message = (text: string) => ({
    message: { messageId: randomUUID(), role: "ROLE_USER", parts: [{ text }] },
  });

  it("lists the methods", async () => {
    const methods = await runBuf("curl", "--http2-prior-knowledge", "--list-methods", agent.url);
    expect(methods.split("\n").filter((line) => line.startsWith(a2aService))).toHaveLength(11);
  });

  it.each(["grpc", "grpcweb", "connect"])("calls and streams over %s, and shows errors", async (protocol) => {
    expect(JSON.parse(await curl(protocol, "SendMessage", message("echo hello")))).toMatchObject({
      message: { parts: [{ text: "hello" }] },
    });
    const streamed = await curl(protocol, "SendStreamingMessage", message("stream 3"));
    expect(streamed.match(/"artifactUpdate"/g)).toHaveLength(3);
    expect(streamed).toContain("TASK_STATE_COMPLETED");
    const failed = curl(protocol, "GetTask", { id: "no-such-task" });
    await expect(failed).rejects.toThrow(/"code": "not_found".*"type": "google.rpc.ErrorInfo"/s);
  });
});
