import { bytes, findA2AError } from "@a2a-connect/core";
import { ErrorInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import { Code, type ConnectError } from "@connectrpc/connect";
import { failureOf, newId, readAll, showCode, toRequest } from "../calls.ts";
import type { CardFact } from "../card-facts.ts";
import { expect } from "../expect.ts";
import { endedTask, hello, helloPart, requireForeignType } from "../hello.ts";
import { type Wire, wires } from "../platform.ts";
import { capture, type RawAnswer, type RawDetail } from "../raw-calls.ts";
import { jsonWires, NotApplicable, type ScenarioGroup, type Stage, scenarios } from "../scenario.ts";
import { anotherExtension, type ServerName } from "../server-name.ts";
import type { A2AClient } from "../target.ts";

/** The name of an error on each kind of wire. */
export interface Names {
  readonly jsonRpcCode: number;
  readonly grpcCode: Code;
  readonly httpStatus: number;
}

/** Something that goes wrong with any agent, and what it has to be called. */
interface Condition {
  readonly name: string;
  /** Reason in ErrorInfo; undefined for errors that the protocol has no name for. */
  readonly reason?: string;
  readonly names: Names;
  /** The numbers of version 1.0.0 of the specification, where 1.0.1 has changed them (spec §5.4). */
  readonly before?: Partial<Names>;
  readonly when?: readonly CardFact[];
  readonly server?: ServerName;
  /** Makes it happen with `client`, after what has to be there first. */
  readonly prepare: (stage: Stage) => Promise<(client: A2AClient) => Promise<unknown>>;
}

const refused = Code.FailedPrecondition;
const unimplemented = { grpcCode: Code.Unimplemented };
const notFound: Names = { jsonRpcCode: -32001, grpcCode: Code.NotFound, httpStatus: 404 };
const unsupported: Names = { jsonRpcCode: -32004, grpcCode: refused, httpStatus: 400 };
const invalid: Names = { jsonRpcCode: -32602, grpcCode: Code.InvalidArgument, httpStatus: 400 };

const conditions: readonly Condition[] = [
  {
    name: "an unknown task",
    reason: "TASK_NOT_FOUND",
    names: notFound,
    prepare: async () => (client) => client.getTask({ id: newId() }),
  },
  {
    name: "a subscription to an unknown task",
    reason: "TASK_NOT_FOUND",
    names: notFound,
    when: ["streaming"],
    prepare: async () => (client) => readAll(client.subscribeToTask({ id: newId() })),
  },
  {
    name: "a cancel that comes too late",
    reason: "TASK_NOT_CANCELABLE",
    names: { jsonRpcCode: -32002, grpcCode: refused, httpStatus: 400 },
    before: { httpStatus: 409 },
    async prepare(stage) {
      const { id } = await endedTask(stage);
      return (client) => client.cancelTask({ id });
    },
  },
  {
    name: "a webhook for an agent without push",
    reason: "PUSH_NOTIFICATION_NOT_SUPPORTED",
    names: { jsonRpcCode: -32003, grpcCode: refused, httpStatus: 400 },
    before: unimplemented,
    when: ["no-push"],
    server: "no-push",
    prepare: async () => (client) => client.listTaskPushNotificationConfigs({ taskId: newId() }),
  },
  {
    name: "a message for a task that has ended",
    reason: "UNSUPPORTED_OPERATION",
    names: unsupported,
    before: unimplemented,
    async prepare(stage) {
      const { id: taskId } = await endedTask(stage);
      return (client) => client.sendMessage(hello(stage, { taskId }));
    },
  },
  {
    name: "a stream of an agent without streaming",
    reason: "UNSUPPORTED_OPERATION",
    names: unsupported,
    before: unimplemented,
    when: ["no-streaming"],
    server: "bare",
    prepare: async (stage) => (client) => readAll(client.sendStreamingMessage(hello(stage))),
  },
  {
    name: "an extended card of an agent without one",
    reason: "UNSUPPORTED_OPERATION",
    names: unsupported,
    before: unimplemented,
    when: ["no-extended-card"],
    server: "bare",
    prepare: async () => (client) => client.getExtendedAgentCard({}),
  },
  {
    name: "a media type that is not taken",
    reason: "CONTENT_TYPE_NOT_SUPPORTED",
    names: { jsonRpcCode: -32005, grpcCode: Code.InvalidArgument, httpStatus: 400 },
    before: { httpStatus: 415 },
    server: "bare",
    async prepare(stage) {
      const parts = [helloPart(stage), bytes(new Uint8Array([1]), { mediaType: requireForeignType(stage) })];
      return (client) => client.sendMessage(toRequest("", { parts }));
    },
  },
  {
    name: "a required extension that is not listed",
    reason: "EXTENSION_SUPPORT_REQUIRED",
    names: { jsonRpcCode: -32008, grpcCode: refused, httpStatus: 400 },
    when: ["required-extension"],
    server: "required-extension",
    prepare: async (stage) => (client) => client.sendMessage(hello(stage), { headers: anotherExtension }),
  },
  {
    name: "a version that is not spoken",
    reason: "VERSION_NOT_SUPPORTED",
    names: { jsonRpcCode: -32009, grpcCode: refused, httpStatus: 400 },
    before: unimplemented,
    prepare: async (stage) => (client) =>
      client.sendMessage(hello(stage), { headers: { "A2A-Version": "99.0" } }),
  },
  {
    name: "a request without its required fields",
    names: invalid,
    prepare: async () => (client) => client.sendMessage({}),
  },
  {
    name: "a value out of range",
    names: invalid,
    prepare: async () => (client) => client.listTasks({ pageSize: 150 }),
  },
];

/** E, on any server: the same condition has the same name on every wire. */
export const errorTable: ScenarioGroup = scenarios("E Errors, condition by condition", ({ anyAgent }) => {
  for (const { name, reason, names, before = {}, when = [], server = "full", prepare } of conditions) {
    const anyAgentThere = anyAgent.where({ when, server, places: wires });

    anyAgentThere("E-1 E-7", `has the number for ${name}, and a sentence`, async (stage) => {
      const provoke = await prepare(stage);
      const { number, sentence } = await readNumber(stage, provoke, reason);
      const member = memberOf[stage.wire];
      const earlier = before[member];
      const show = (each = Number.NaN) => (member === "grpcCode" ? showCode(each) : each);
      expect(sentence).toMatch(/\w/);
      if (number === earlier && stage.spec === undefined) {
        stage.note(
          `The number for ${name} (${show(earlier)}) is that of version 1.0.0; 1.0.1 says ${show(names[member])}.`,
        );
      } else {
        const wanted = (stage.spec === "1.0.0" ? earlier : undefined) ?? names[member];
        expect(show(number), sentence).toBe(show(wanted));
      }
    });

    if (reason !== undefined) {
      anyAgentThere("E-2 E-5", `names ${reason} in the ErrorInfo for ${name}`, async (stage) => {
        const provoke = await prepare(stage);
        const error = await mustFail(provoke(stage.client), reason);
        if (stage.wire === "jsonrpc" && !hasErrorInfo(await capture(stage, provoke))) {
          stage.note("Errors over JSON-RPC have no ErrorInfo: 1.0.0 demands it, 1.0.1 recommends it.");
          return;
        }
        const infos = error.findDetails(ErrorInfoSchema);
        expect(
          infos.map((info) => [info.reason, info.domain]),
          error.message,
        ).toStrictEqual([[reason, "a2a-protocol.org"]]);
      });
    }

    anyAgentThere.where({ places: jsonWires })(
      "E-1 E-8 I-2 K-7",
      `answers ${name} in the shape of its wire`,
      async (stage) => {
        const provoke = await prepare(stage);
        const { status, header, json, text } = await mustAnswer(stage, provoke, reason);
        expect(header.get("content-type"), text).toMatch(/^application\/(a2a\+)?json/);
        const { code, message, data, details, ...more } = json.error ?? {};
        expect(message, text).toMatch(/\w/);
        if (stage.wire === "jsonrpc") {
          expect(Object.keys(json).toSorted(), text).toStrictEqual(["error", "id", "jsonrpc"]);
          expect(more, "an error of JSON-RPC has a code, a message and data").toStrictEqual({});
        } else {
          expect(Object.keys(json), text).toStrictEqual(["error"]);
          expect(code, "the code is the HTTP status").toBe(status);
          expect(more, text).toStrictEqual({ status: expect.stringMatching(/^[A-Z_]+$/) });
        }
        const each: readonly RawDetail[] = (stage.wire === "jsonrpc" ? data : details) ?? [];
        expect(Array.isArray(each), `details are an array: ${text}`).toBe(true);
        for (const detail of each) {
          expect(detail["@type"], text).toMatch(/^type\.googleapis\.com\/[\w.]+$/);
        }
      },
    );
  }
});

/** Which number each wire has. */
const memberOf: Readonly<Record<Wire, keyof Names>> = {
  grpc: "grpcCode",
  "grpc-web": "grpcCode",
  connect: "grpcCode",
  jsonrpc: "jsonRpcCode",
  "http-json": "httpStatus",
};

/**
 * The error that a call fails with.
 *
 * @throws NotApplicable when it does not fail, or for another reason: that it has to is a scenario of its own
 */
async function mustFail(call: Promise<unknown>, reason: string | undefined): Promise<ConnectError> {
  const [outcome] = await Promise.allSettled([call]);
  if (outcome.status === "fulfilled") throw new NotApplicable("the call is not refused");
  const error = await failureOf(call);
  refuseOther(findA2AError(error)?.reason, reason);
  return error;
}

/** The answer of a JSON wire to such a call. @throws NotApplicable as `mustFail` does */
async function mustAnswer(
  stage: Stage,
  provoke: (client: A2AClient) => Promise<unknown>,
  reason: string | undefined,
): Promise<RawAnswer> {
  const answer = await capture(stage, provoke);
  const { status, header, error, text } = answer;
  if (header.get("content-type")?.startsWith("text/event-stream")) {
    throw new NotApplicable("the error comes as an event of a stream");
  }
  if (status === 200 && error === undefined) throw new NotApplicable("the call is not refused");
  expect(error, text).toBeDefined();
  const details = error.data ?? error.details;
  refuseOther(
    Array.isArray(details) ? details.find((detail) => "reason" in detail)?.reason : undefined,
    reason,
  );
  return answer;
}

/** As it was written: our client knows the reason by the number, too. */
function hasErrorInfo({ error }: RawAnswer): boolean {
  const data = error?.data;
  return (
    Array.isArray(data) && data.some((detail) => String(detail?.["@type"]).endsWith("/google.rpc.ErrorInfo"))
  );
}

function refuseOther(found: string | undefined, wanted: string | undefined): void {
  if (wanted !== undefined && found !== undefined && found !== wanted) {
    throw new NotApplicable(`the call is refused for another reason: ${found}`);
  }
}

async function readNumber(
  stage: Stage,
  provoke: (client: A2AClient) => Promise<unknown>,
  reason: string | undefined,
): Promise<{ readonly number: number; readonly sentence: string }> {
  if (memberOf[stage.wire] === "grpcCode") {
    const { code, rawMessage } = await mustFail(provoke(stage.client), reason);
    return { number: code, sentence: rawMessage };
  }
  const { status, error } = await mustAnswer(stage, provoke, reason);
  return { number: stage.wire === "jsonrpc" ? error.code : status, sentence: error.message };
}
