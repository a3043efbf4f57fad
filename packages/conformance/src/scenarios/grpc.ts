import { methods } from "@a2a-connect/core";
import {
  GetTaskRequestSchema,
  ListTasksRequestSchema,
  ListTasksResponseSchema,
  SendMessageRequestSchema,
  StreamResponseSchema,
  SubscribeToTaskRequestSchema,
} from "@a2a-connect/proto";
import { BadRequestSchema, ErrorInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import { StatusSchema } from "@a2a-connect/proto/google/rpc/status";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { newId, statesOf, toRequest } from "../calls.ts";
import { expect } from "../expect.ts";
import { hello } from "../hello.ts";
import { NotApplicable } from "../not-applicable.ts";
import { callGrpc, type GrpcAnswer } from "../raw-grpc.ts";
import { type ScenarioGroup, scenarios } from "../scenario.ts";
import { anotherExtension, requiredExtension } from "../server-name.ts";

const service = "/lf.a2a.v1.A2AService";
const nothing = new Uint8Array();

/** J */
export const grpc: ScenarioGroup = scenarios("J gRPC", ({ verifies, anyAgent }) => {
  const streamingAgent = anyAgent.where({ when: ["streaming"] });

  verifies("J-1", "answers an empty request for a list at its path over HTTP/2", async ({ target }) => {
    const { trailers, messages } = await callGrpc(target, `${service}/ListTasks`, nothing);
    expect(trailers["grpc-status"]).toBe("0");
    expect(messages.map((message) => fromBinary(ListTasksResponseSchema, message).pageSize)).toStrictEqual([
      50,
    ]);
  });

  anyAgent("J-1", "knows the methods of the schema at their paths over HTTP/2", async ({ target }) => {
    for (const { name } of Object.values(methods)) {
      const answer = await callGrpc(target, `${service}/${name}`, nothing);
      expect([name, answer.headers[":status"]]).toStrictEqual([name, 200]);
      expect(answer.headers["content-type"]).toMatch(/^application\/grpc/);
      expect(answer.trailers["grpc-status"]).toMatch(/^\d+$/);
      // Version 1.0.0 has UNIMPLEMENTED for what an agent does not support. That has a reason.
      const known = answer.trailers["grpc-status"] !== "12" || reasonOf(answer) !== undefined;
      expect([name, known]).toStrictEqual([name, true]);
    }
  });

  anyAgent.where({ places: ["grpc"] })("J-1 E-7", "does not know other methods", async ({ target }) => {
    const { messages, trailers } = await callGrpc(target, `${service}/NoSuchMethod`, nothing);
    expect([messages, trailers["grpc-status"]]).toStrictEqual([[], "12"]);
  });

  anyAgent("J-3", "hears the version in lowercase metadata", async ({ target }) => {
    const request = toBinary(GetTaskRequestSchema, create(GetTaskRequestSchema, { id: newId() }));
    const reasonFor = async (version: string) =>
      reasonOf(await callGrpc(target, `${service}/GetTask`, request, { "a2a-version": version }));
    const [spoken, other] = [await reasonFor("1.0"), await reasonFor("9.9")];
    if (spoken === "TASK_NOT_FOUND" && other === spoken) throw new NotApplicable("no version is refused");
    expect([spoken, other]).toStrictEqual(["TASK_NOT_FOUND", "VERSION_NOT_SUPPORTED"]);
  });

  anyAgent("J-4 J-6", "has status and ErrorInfo for an unknown task in its trailers", async ({ target }) => {
    const request = toBinary(GetTaskRequestSchema, create(GetTaskRequestSchema, { id: newId() }));
    const answer = await callGrpc(target, `${service}/GetTask`, request);
    expect([answer.headers[":status"], answer.messages, answer.trailers["grpc-status"]]).toStrictEqual([
      200,
      [],
      "5",
    ]);
    const { code, message, details } = detailsOf(answer);
    expect([code, message]).toStrictEqual([5, decodeURIComponent(String(answer.trailers["grpc-message"]))]);
    expect(details.map(({ typeUrl }) => typeUrl)).toContain("type.googleapis.com/google.rpc.ErrorInfo");
    const infos = details.flatMap((detail) => anyUnpack(detail, ErrorInfoSchema) ?? []);
    expect(infos).toMatchObject([{ reason: "TASK_NOT_FOUND", domain: "a2a-protocol.org" }]);
  });

  anyAgent("J-4", "encodes the sentence of an error with percent signs", async ({ target }) => {
    const answers = [
      await callGrpc(target, `${service}/ListTasks`, nothing, { "a2a-version": "9%41" }),
      await callGrpc(
        target,
        `${service}/GetTask`,
        toBinary(GetTaskRequestSchema, create(GetTaskRequestSchema, { id: "ü%41" })),
      ),
    ];
    const sentences = answers.map((answer) => [
      String(answer.trailers["grpc-message"] ?? ""),
      detailsOf(answer).message,
    ]);
    // Only what is not plain ASCII, and the percent sign, is encoded.
    const special = sentences.filter(([, sentence = ""]) => /[^ -~]|%/.test(sentence));
    if (special.length === 0) throw new NotApplicable("no error has a sentence that needs it");
    for (const [encoded = "", sentence] of special) {
      expect(decodeURIComponent(encoded), `grpc-message: ${encoded}`).toBe(sentence);
    }
  });

  streamingAgent("J-5", "streams the answer to a hello as messages, and ends with OK", async (stage) => {
    const request = toBinary(SendMessageRequestSchema, hello(stage));
    const { messages, trailers } = await callGrpc(stage.target, `${service}/SendStreamingMessage`, request);
    expect(trailers["grpc-status"]).toBe("0");
    const [first] = messages.map((message) => fromBinary(StreamResponseSchema, message).payload.case);
    expect(first).toMatch(/^(task|message)$/);
  });

  streamingAgent(
    "J-5",
    "fails without a message where there is nothing to subscribe to",
    async ({ target }) => {
      const unknown = create(SubscribeToTaskRequestSchema, { id: newId() });
      const answer = await callGrpc(
        target,
        `${service}/SubscribeToTask`,
        toBinary(SubscribeToTaskRequestSchema, unknown),
      );
      expect([answer.messages, reasonOf(answer)]).toStrictEqual([[], "TASK_NOT_FOUND"]);
    },
  );

  anyAgent("J-8", "calls a send without a message INVALID_ARGUMENT", async ({ target }) => {
    const { trailers } = await callGrpc(target, `${service}/SendMessage`, nothing);
    expect(trailers["grpc-status"]).toBe("3");
  });

  verifies.where({ server: "required-extension" })(
    "J-3",
    "reads service parameters from lowercase metadata, and echoes extensions in its headers",
    async ({ target }) => {
      const request = toBinary(ListTasksRequestSchema, create(ListTasksRequestSchema, {}));
      const call = (metadata: Record<string, string>) =>
        callGrpc(target, `${service}/ListTasks`, request, metadata);
      const good = await call({ "a2a-version": "1.0", "a2a-extensions": requiredExtension });
      expect([good.trailers["grpc-status"], good.headers["a2a-extensions"]]).toStrictEqual([
        "0",
        requiredExtension,
      ]);
      const none = await call({ "a2a-version": "1.0", ...anotherExtension });
      expect(reasonOf(none)).toBe("EXTENSION_SUPPORT_REQUIRED");
      expect(reasonOf(await call({ "a2a-extensions": requiredExtension }))).toBe("VERSION_NOT_SUPPORTED");
      expect(reasonOf(await call({ "a2a-version": "9.9", "a2a-extensions": requiredExtension }))).toBe(
        "VERSION_NOT_SUPPORTED",
      );
    },
  );

  verifies("J-4 J-6", "puts status and ErrorInfo into its trailers", async ({ target }) => {
    const id = newId();
    const request = toBinary(GetTaskRequestSchema, create(GetTaskRequestSchema, { id }));
    const answer = await callGrpc(target, `${service}/GetTask`, request);
    expect(answer.headers[":status"]).toBe(200);
    expect(answer.messages).toStrictEqual([]);
    expect(answer.trailers["grpc-status"]).toBe("5");
    expect(decodeURIComponent(String(answer.trailers["grpc-message"]))).toMatch(/\w/);
    const status = detailsOf(answer);
    expect(status.code).toBe(5);
    expect(status.message).toBe(decodeURIComponent(String(answer.trailers["grpc-message"])));
    expect(status.details.map(({ typeUrl }) => typeUrl)).toStrictEqual([
      "type.googleapis.com/google.rpc.ErrorInfo",
    ]);
    const info = status.details.map((detail) => anyUnpack(detail, ErrorInfoSchema))[0];
    expect(info).toMatchObject({
      reason: "TASK_NOT_FOUND",
      domain: "a2a-protocol.org",
      metadata: { taskId: id },
    });
  });

  verifies("J-5", "streams a task as its states and its artifact", async ({ target }) => {
    const request = toBinary(
      SendMessageRequestSchema,
      create(SendMessageRequestSchema, toRequest("task it")),
    );
    const good = await callGrpc(target, `${service}/SendStreamingMessage`, request);
    expect(good.trailers["grpc-status"]).toBe("0");
    const events = good.messages.map((message) => fromBinary(StreamResponseSchema, message));
    expect(events.map(({ payload }) => payload.case)).toStrictEqual([
      "task",
      "statusUpdate",
      "artifactUpdate",
      "statusUpdate",
    ]);
    expect(statesOf(events)).toStrictEqual([1, 2, 3]);
  });

  verifies("J-8", "names the field that a request lacks", async ({ target }) => {
    for (const [name, field] of [
      ["SendMessage", "message"],
      ["SendStreamingMessage", "message"],
      ["GetTask", "id"],
      ["CancelTask", "id"],
      ["SubscribeToTask", "id"],
    ] as const) {
      const answer = await callGrpc(target, `${service}/${name}`, nothing);
      expect([name, answer.trailers["grpc-status"]]).toStrictEqual([name, "3"]);
      expect(reasonOf(answer)).toBe("INVALID_PARAMS");
      const [, detail] = detailsOf(answer).details.map((any) => anyUnpack(any, BadRequestSchema));
      expect(detail?.fieldViolations.map((violation) => violation.field)).toStrictEqual([field]);
    }
  });
});

function detailsOf({ trailers }: GrpcAnswer) {
  return fromBinary(StatusSchema, Buffer.from(String(trailers["grpc-status-details-bin"] ?? ""), "base64"));
}

function reasonOf(answer: GrpcAnswer): string | undefined {
  return detailsOf(answer)
    .details.map((detail) => anyUnpack(detail, ErrorInfoSchema)?.reason)
    .find((reason) => reason !== undefined);
}
