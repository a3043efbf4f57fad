import { methods } from "@a2a-connect/core";
import { encodeMessage } from "@a2a-connect/core/internal";
import { GetTaskRequestSchema, SendMessageRequestSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { expectReason, newId, showCode } from "../calls.ts";
import { expect } from "../expect.ts";
import { hello } from "../hello.ts";
import { callRest, postRpc } from "../raw-calls.ts";
import { postGrpc } from "../raw-grpc.ts";
import { jsonWires, type ScenarioGroup, type Stage, scenarios } from "../scenario.ts";

const utf8 = new TextEncoder();

/** Deeper than any message of the protocol, and than the stack of a careless parser. */
const depth = 100_000;

/** Requests that no schema allows, or no client should send: what they are, and the body that both JSON wires get. */
const bodies: readonly (readonly [name: string, message: string | Uint8Array])[] = [
  ["a text that breaks off", '{"messageId":"m","role":"ROLE_USER","parts":[{"te'],
  ["a list instead of a message", "[]"],
  ["a number instead of a message", "7"],
  ["parts that are no list", '{"messageId":"m","role":"ROLE_USER","parts":{"text":"a"}}'],
  ["a text that is a number", '{"messageId":"m","role":"ROLE_USER","parts":[{"text":7}]}'],
  ["a message id that is an object", '{"messageId":{},"role":"ROLE_USER","parts":[{"text":"a"}]}'],
  ["bytes that are no base64", '{"messageId":"m","role":"ROLE_USER","parts":[{"raw":"*"}]}'],
  ["metadata that is a list", '{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}],"metadata":[1]}'],
  ["bytes that are no UTF-8", Uint8Array.of(0x7b, 0x22, 0xc3, 0x28, 0xff, 0x22, 0x3a, 0x31, 0x7d)],
];

/** Malformed requests and large ones: each is refused as the caller's fault, and the next call is answered as ever. */
export const robustness: ScenarioGroup = scenarios("Malformed input", ({ anyAgent }) => {
  const anyOverJson = anyAgent.where({ places: jsonWires });

  for (const [name, message] of bodies) {
    anyOverJson("A-13 E-1", `refuses ${name} as the caller's fault`, async (stage) => {
      await expectCallersFault(stage, message);
      await expectAlive(stage);
    });
  }

  anyOverJson("A-13 E-1", "survives data that is nested very deeply", async (stage) => {
    const data = "[".repeat(depth) + "]".repeat(depth);
    await post(stage, `{"messageId":"m","role":"ROLE_USER","parts":[{"data":${data}}]}`);
    await expectAlive(stage);
  });

  for (const [id, wire] of [
    ["I-10", "jsonrpc"],
    ["K-4", "http-json"],
  ] as const) {
    anyAgent.where({ places: [wire] })(
      id,
      "does not fail over a body of another media type",
      async (stage) => {
        for (const type of ["text/plain", "application/xml", "multipart/form-data", "nonsense"]) {
          const { status, text } = await post(stage, "{}", type);
          expect([type, status < 500], text).toStrictEqual([type, true]);
        }
        await expectAlive(stage);
      },
    );
  }

  anyAgent("A-30 E-1", "does not know a task of a very long id, or of a strange one", async (stage) => {
    for (const id of [
      "x".repeat(2_000),
      "../../etc/passwd",
      "a\u0000b",
      "%00",
      "💥",
      "a:cancel",
      "' OR 1=1 --",
    ]) {
      const answer = await stage.client.getTask({ id }).then(
        () => "a task",
        () => "an error",
      );
      expect([id.slice(0, 20), answer]).toStrictEqual([id.slice(0, 20), "an error"]);
    }
    await expectAlive(stage);
  });

  anyAgent.where({ places: ["grpc"] })("E-1 J-1", "refuses protobuf that breaks off", async (stage) => {
    const whole = encodeMessage(SendMessageRequestSchema, hello(stage));
    for (const bytes of [whole.subarray(0, -3), new Uint8Array([0xff, 0xff, 0xff]), utf8.encode("{}")]) {
      const { status } = await postGrpc(stage.target, methods.sendMessage.grpcPath, bytes);
      expect(status, "a code that is not OK").toMatch(/\([1-9]\d*\)$/);
    }
    await expectAlive(stage);
  });

  anyAgent.where({ places: ["grpc"] })(
    "H-6 J-1",
    "ignores fields of protobuf that it does not know",
    async (stage) => {
      const known = encodeMessage(GetTaskRequestSchema, create(GetTaskRequestSchema, { id: newId() }));
      const unknown = new Uint8Array([0xba, 0x3e, 0x02, 0x68, 0x69]); // field 999: "hi"
      const bytes = Uint8Array.of(...unknown, ...known, ...unknown);
      const { status } = await postGrpc(stage.target, methods.getTask.grpcPath, bytes);
      expect(status).toBe(showCode(Code.NotFound));
    },
  );
});

/** A send whose message is this text. */
async function post({ wire, target }: Stage, message: string | Uint8Array, type = "application/json") {
  const content = typeof message === "string" ? message : new Uint8Array(message);
  const put = async (before: string, after: string) =>
    new Uint8Array(await new Blob([before, content, after]).arrayBuffer());
  const headers = { "content-type": type };
  if (wire !== "jsonrpc") {
    return callRest(target, "POST", "/message:send", await put('{"message":', "}"), headers);
  }
  const body = await put('{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":', "}}");
  return postRpc(target, body, headers);
}

async function expectCallersFault(stage: Stage, message: string | Uint8Array): Promise<void> {
  const { status, error, text } = await post(stage, message);
  if (stage.wire === "jsonrpc") {
    expect(error?.code, text).oneOf([-32700, -32600, -32602]);
  } else {
    expect(status, text).toBeGreaterThanOrEqual(400);
    expect(status, text).toBeLessThan(500);
  }
}

/** Whether the server still does what it should. */
async function expectAlive({ client }: Stage): Promise<void> {
  await expectReason(client.getTask({ id: newId() }), "TASK_NOT_FOUND");
}
