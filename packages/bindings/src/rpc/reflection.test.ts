import { A2AService } from "@a2a-connect/proto";
import { Health } from "@a2a-connect/proto/grpc/health/v1";
import { ServerReflection, type ServerReflectionRequestSchema } from "@a2a-connect/proto/grpc/reflection/v1";
import { ServerReflection as ServerReflectionAlpha } from "@a2a-connect/proto/grpc/reflection/v1alpha";
import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, createClient, createRouterTransport } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { registerReflection } from "./reflection.ts";

const transport = createRouterTransport((router) =>
  registerReflection(router, { services: [A2AService, Health] }),
);

type Question = NonNullable<MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"]>;

async function ask(
  messageRequest: Question,
  service = ServerReflection as typeof ServerReflection | typeof ServerReflectionAlpha,
) {
  const client = createClient<typeof ServerReflection>(service as typeof ServerReflection, transport); // same methods
  const answers = [];
  for await (const answer of client.serverReflectionInfo(once({ host: "h", messageRequest }))) {
    answers.push(answer);
  }
  expect(answers).toHaveLength(1);
  return answers[0]?.messageResponse;
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}

async function filesOf(question: Question): Promise<string[] | undefined> {
  const answer = await ask(question);
  return answer?.case === "fileDescriptorResponse"
    ? answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name)
    : undefined;
}

describe("server reflection", () => {
  for (const service of [ServerReflection, ServerReflectionAlpha]) {
    it(`lists the services over ${service.typeName}`, async () => {
      const answer = await ask({ case: "listServices", value: "" }, service);
      expect(answer).toMatchObject({ case: "listServicesResponse" });
      expect(answer?.case === "listServicesResponse" && answer.value.service.map(({ name }) => name)).toEqual(
        [
          "lf.a2a.v1.A2AService",
          "grpc.health.v1.Health",
          "grpc.reflection.v1.ServerReflection",
          "grpc.reflection.v1alpha.ServerReflection",
        ],
      );
    });
  }

  it("answers a thousand questions of one stream, and lets others have their turn between them", async () => {
    async function* many() {
      for (let asked = 0; asked < 1_500; asked++) {
        yield { host: "h", messageRequest: { case: "listServices", value: "" } as const };
      }
    }
    let turns = 0;
    const count = () => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    let answers = 0;
    const asking = async () => {
      const client = createClient(ServerReflection, transport);
      for await (const _ of client.serverReflectionInfo(many())) answers += 1;
    };
    await expect(asking()).rejects.toMatchObject({ code: Code.ResourceExhausted });
    clearImmediate(counting);
    expect(answers).toBe(1_000);
    expect(turns).toBeGreaterThan(900);
  });

  for (const symbol of [
    "lf.a2a.v1.A2AService",
    "lf.a2a.v1.A2AService.SendMessage",
    "lf.a2a.v1.Task",
    "lf.a2a.v1.Task.context_id",
    "lf.a2a.v1.Part.content",
    "lf.a2a.v1.TaskState",
    "lf.a2a.v1.TASK_STATE_WORKING",
  ]) {
    it(`finds ${symbol}, its file after the files that it imports`, async () => {
      const files = await filesOf({ case: "fileContainingSymbol", value: symbol });
      expect(files?.at(-1)).toBe("lf/a2a/v1/a2a.proto");
      expect(files).toContain("google/protobuf/struct.proto");
      expect(files).toContain("google/api/annotations.proto");
      expect(new Set(files).size).toBe(files?.length);
    });
  }

  it("finds the details of errors, which no file of the services imports", async () => {
    const file = "google/rpc/error_details.proto";
    for (const value of ["google.rpc.ErrorInfo", "google.rpc.BadRequest", "google.rpc.RetryInfo"]) {
      expect((await filesOf({ case: "fileContainingSymbol", value }))?.at(-1)).toBe(file);
    }
    const files = ["google/protobuf/duration.proto", file];
    expect(await filesOf({ case: "fileByFilename", value: file })).toEqual(files);
  });

  it("finds files by name and extensions by number", async () => {
    expect(await filesOf({ case: "fileByFilename", value: "google/api/http.proto" })).toEqual([
      "google/api/http.proto",
    ]);
    const http = { containingType: "google.protobuf.MethodOptions", extensionNumber: 72295728 };
    expect((await filesOf({ case: "fileContainingExtension", value: http }))?.at(-1)).toBe(
      "google/api/annotations.proto",
    );
    expect(
      await ask({ case: "allExtensionNumbersOfType", value: "google.protobuf.MethodOptions" }),
    ).toMatchObject({
      value: { extensionNumber: expect.arrayContaining([72295728]) },
    });
  });

  for (const question of [
    { case: "fileByFilename", value: "nowhere.proto" },
    { case: "fileContainingSymbol", value: "lf.a2a.v1.Nothing" },
    { case: "fileContainingSymbol", value: "lf.a2a.v1.Task.nothing" },
    { case: "fileContainingSymbol", value: "" },
    { case: "fileContainingExtension", value: { containingType: "x", extensionNumber: 1 } },
    { case: "allExtensionNumbersOfType", value: "x" },
  ] as const) {
    it(`answers ${JSON.stringify(question)} with not found`, async () => {
      expect(await ask(question)).toMatchObject({ case: "errorResponse", value: { errorCode: 5 } });
    });
  }

  it("says that a request asks for nothing", async () => {
    expect(await ask({ case: undefined })).toMatchObject({ case: "errorResponse", value: { errorCode: 3 } });
  });
});
