import { methods } from "@a2a-connect/core";
import { A2AService, ListTasksResponseSchema, StreamResponseSchema } from "@a2a-connect/proto";
import { BadRequestSchema, ErrorInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import { StatusSchema } from "@a2a-connect/proto/google/rpc/status";
import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { casesOf, casesOfWork, newId, showCode, statesOf, toRequest } from "../calls.ts";
import { expect } from "../expect.ts";
import { hello } from "../hello.ts";
import type { GrpcAnswer } from "../platform.ts";
import { callGrpc, postGrpc } from "../raw-grpc.ts";
import { NotApplicable, type ScenarioGroup, scenarios } from "../scenario.ts";
import { anotherExtension, requiredExtension } from "../server-name.ts";
import type { Target } from "../target.ts";

/** J */
export const grpc: ScenarioGroup = scenarios("J gRPC", ({ verifies, anyAgent }) => {
  const streamingAgent = anyAgent.where({ when: ["streaming"] });

  verifies("J-1", "answers an empty request for a list at its path over HTTP/2", async ({ target }) => {
    const { status, messages } = await callGrpc(target, "listTasks", {});
    const sizes = messages.map((message) => fromBinary(ListTasksResponseSchema, message).pageSize);
    expect([status, sizes]).toStrictEqual([showCode(0), [50]]);
  });

  anyAgent("J-1", "knows the methods of the schema at their paths over HTTP/2", async ({ target }) => {
    for (const { localName, name } of Object.values(methods)) {
      const answer = await callGrpc(target, localName, {});
      expect([name, answer.headers[":status"]]).toStrictEqual([name, 200]);
      expect(answer.headers["content-type"]).toMatch(/^application\/grpc/);
      expect(answer.trailers["grpc-status"]).toMatch(/^\d+$/);
      // Version 1.0.0 has UNIMPLEMENTED for what an agent does not support. That has a reason.
      const known = answer.status !== showCode(Code.Unimplemented) || reasonOf(answer) !== undefined;
      expect([name, known]).toStrictEqual([name, true]);
    }
  });

  anyAgent.where({ places: ["grpc"] })("J-1 E-7", "does not know other methods", async ({ target }) => {
    const path = `/${A2AService.typeName}/NoSuchMethod`;
    const { messages, status } = await postGrpc(target, path, new Uint8Array());
    expect([messages, status]).toStrictEqual([[], showCode(Code.Unimplemented)]);
  });

  anyAgent("J-3", "reads the version from lowercase metadata", async ({ target }) => {
    const reasonFor = async (version: string) =>
      reasonOf(await callGrpc(target, "getTask", { id: newId() }, { "a2a-version": version }));
    const [spoken, other] = [await reasonFor("1.0"), await reasonFor("9.9")];
    if (spoken === "TASK_NOT_FOUND" && other === spoken) throw new NotApplicable("no version is refused");
    expect([spoken, other]).toStrictEqual(["TASK_NOT_FOUND", "VERSION_NOT_SUPPORTED"]);
  });

  anyAgent("J-4 J-6", "has status and ErrorInfo for an unknown task in its trailers", async ({ target }) => {
    const { message, details } = await statusOfUnknown(target, newId());
    expect(details.map(({ typeUrl }) => typeUrl)).toContain(infoType);
    const infos = details.flatMap((detail) => anyUnpack(detail, ErrorInfoSchema) ?? []);
    expect(infos, message).toMatchObject([{ reason: "TASK_NOT_FOUND", domain: "a2a-protocol.org" }]);
  });

  anyAgent("J-4", "encodes the sentence of an error with percent signs", async ({ target }) => {
    const answers = [
      await callGrpc(target, "listTasks", {}, { "a2a-version": "9%41" }),
      await callGrpc(target, "getTask", { id: "ü%41" }),
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
    const { messages, status } = await callGrpc(stage.target, "sendStreamingMessage", hello(stage));
    expect(status).toBe(showCode(0));
    const [first] = messages.map((message) => fromBinary(StreamResponseSchema, message).payload.case);
    expect(first).toMatch(/^(task|message)$/);
  });

  streamingAgent(
    "J-5",
    "fails without a message where there is nothing to subscribe to",
    async ({ target }) => {
      const answer = await callGrpc(target, "subscribeToTask", { id: newId() });
      expect([answer.messages, reasonOf(answer)]).toStrictEqual([[], "TASK_NOT_FOUND"]);
    },
  );

  anyAgent("J-8", "calls a send without a message INVALID_ARGUMENT", async ({ target }) => {
    const { status } = await callGrpc(target, "sendMessage", {});
    expect(status).toBe(showCode(Code.InvalidArgument));
  });

  verifies.where({ server: "required-extension" })(
    "J-3",
    "reads service parameters from lowercase metadata, and echoes extensions in its headers",
    async ({ target }) => {
      const call = (metadata: Record<string, string>) => callGrpc(target, "listTasks", {}, metadata);
      const named = { "a2a-extensions": requiredExtension };
      const good = await call({ "a2a-version": "1.0", ...named });
      expect([good.status, good.headers["a2a-extensions"]]).toStrictEqual([showCode(0), requiredExtension]);
      for (const [metadata, reason] of [
        [{ "a2a-version": "1.0", ...anotherExtension }, "EXTENSION_SUPPORT_REQUIRED"],
        [named, "VERSION_NOT_SUPPORTED"],
        [{ "a2a-version": "9.9", ...named }, "VERSION_NOT_SUPPORTED"],
      ] as const) {
        expect(reasonOf(await call(metadata))).toBe(reason);
      }
    },
  );

  verifies("J-4 J-6", "puts status and ErrorInfo into its trailers", async ({ target }) => {
    const id = newId();
    const { message, details } = await statusOfUnknown(target, id);
    expect(message).toMatch(/\w/);
    expect(details.map(({ typeUrl }) => typeUrl)).toStrictEqual([infoType]);
    expect(details.map((detail) => anyUnpack(detail, ErrorInfoSchema))).toMatchObject([
      { reason: "TASK_NOT_FOUND", domain: "a2a-protocol.org", metadata: { taskId: id } },
    ]);
  });

  verifies("J-5", "streams a task as its states and its artifact", async ({ target }) => {
    const { status, messages } = await callGrpc(target, "sendStreamingMessage", toRequest("task it"));
    expect(status).toBe(showCode(0));
    const events = messages.map((message) => fromBinary(StreamResponseSchema, message));
    expect(casesOf(events)).toStrictEqual(casesOfWork);
    expect(statesOf(events)).toStrictEqual([1, 2, 3]);
  });

  verifies("J-8", "names the field that a request lacks", async ({ target }) => {
    for (const [operation, field] of [
      ["sendMessage", "message"],
      ["sendStreamingMessage", "message"],
      ["getTask", "id"],
      ["cancelTask", "id"],
      ["subscribeToTask", "id"],
    ] as const) {
      const answer = await callGrpc(target, operation, {});
      expect([operation, answer.status]).toStrictEqual([operation, showCode(Code.InvalidArgument)]);
      expect(reasonOf(answer)).toBe("INVALID_PARAMS");
      const [, detail] = detailsOf(answer).details.map((any) => anyUnpack(any, BadRequestSchema));
      expect(detail?.fieldViolations.map((violation) => violation.field)).toStrictEqual([field]);
    }
  });
});

const infoType = "type.googleapis.com/google.rpc.ErrorInfo";

/** What the trailers say of a GetTask of a task that does not exist, which has to be the same in each of them. */
async function statusOfUnknown(target: Target, id: string) {
  const answer = await callGrpc(target, "getTask", { id });
  const { headers, messages, status, trailers } = answer;
  expect([headers[":status"], messages, status]).toStrictEqual([200, [], showCode(Code.NotFound)]);
  const details = detailsOf(answer);
  const said = decodeURIComponent(String(trailers["grpc-message"]));
  expect([showCode(details.code), details.message]).toStrictEqual([status, said]);
  return details;
}

function detailsOf({ trailers }: GrpcAnswer) {
  return fromBinary(StatusSchema, Buffer.from(String(trailers["grpc-status-details-bin"] ?? ""), "base64"));
}

function reasonOf(answer: GrpcAnswer): string | undefined {
  return detailsOf(answer)
    .details.map((detail) => anyUnpack(detail, ErrorInfoSchema)?.reason)
    .find((reason) => reason !== undefined);
}
