import { describe, expect, it } from "vitest";
import { findProblem, serveTarget } from "./target.ts";
import { type Call, encodeCall, wires } from "./wires.ts";

const target = serveTarget({ protocolVersions: ["1.0", "1.1"] });

/** How a request names its version; a header that is undefined is not sent. */
interface Row {
  readonly title: string;
  readonly header?: string;
  readonly query?: string;
}

/** Requirements F-1, F-3, F-4, F-5. */
const refused: readonly Row[] = [
  { title: "9.9 in the header", header: "9.9" },
  { title: "9.9 in the query", query: "9.9" },
  { title: "none" },
  { title: "an empty header", header: "" },
  { title: "an empty query", query: "" },
  { title: "0.3 in the header", header: "0.3" },
  { title: "0.3 in the query", query: "0.3" },
  { title: "a word", header: "latest" },
  { title: "a major version alone", header: "1" },
  { title: "2.0, which nobody offers yet", header: "2.0" },
  { title: "1.0 and 9.9 in one header", header: "1.0, 9.9" },
  { title: "9.9 in the header and 1.0 in the query", header: "9.9", query: "1.0" },
  { title: "ten kilobytes of digits", header: "1".repeat(10_000) },
];

const taken: readonly Row[] = [
  { title: "1.0 in the header", header: "1.0" },
  { title: "1.0 in the query", query: "1.0" },
  { title: "1.1 in the header", header: "1.1" },
  { title: "1.0.7 in the header", header: "1.0.7" },
  { title: "1.0.7 in the query", query: "1.0.7" },
  { title: "1.0 in the header and 9.9 in the query", header: "1.0", query: "9.9" },
  { title: "1.0 twice in one header", header: "1.0, 1.0" },
];

function callWith({ header, query }: Row): Call {
  const fields = { "a2a-version": header };
  return query === undefined
    ? { method: "ListTasks", fields }
    : { method: "ListTasks", fields, query: `A2A-Version=${query}` };
}

for (const wire of wires) {
  describe(`a version over ${wire.name}`, () => {
    for (const row of refused) {
      it(`is refused: ${row.title}`, async () => {
        const refusal = await target.refuses(wire, encodeCall(wire, callWith(row)), {
          error: "versionNotSupported",
        });
        expect(refusal.metadata["supportedVersions"]).toBe("1.0,1.1");
        expect(refusal.message).toContain("A2A-Version: 1.0");
        expect(refusal.message.length).toBeLessThan(300);
      });
    }
    for (const row of taken) {
      it(`is taken: ${row.title}`, async () => {
        const answer = await target.send(encodeCall(wire, callWith(row)));
        expect(findProblem(wire, answer)).toBeUndefined();
      });
    }
  });
}

/** Names of version 0.3, and words of the sentence that says what to send. */
const older: readonly (readonly [wire: string, target: string, body: string, words: string])[] = [
  ...[
    ["message/send", "SendMessage"],
    ["message/stream", "SendStreamingMessage"],
    ["tasks/get", "GetTask"],
    ["tasks/list", "ListTasks"],
    ["tasks/cancel", "CancelTask"],
    ["tasks/resubscribe", "SubscribeToTask"],
    ["tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig"],
    ["tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig"],
    ["tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs"],
    ["tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig"],
    ["agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"],
  ].map(
    ([method, operation]) =>
      [
        "JSON-RPC",
        "/rpc",
        JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: {} }),
        `call ${operation},`,
      ] as const,
  ),
  ["HTTP+JSON", "/rest/v1/message:send", '{"message":{"role":"user","kind":"message"}}', "leave /v1 out"],
  ["HTTP+JSON", "/rest/v1/card", "{}", "leave /v1 out"],
  ["gRPC", "/a2a.v1.A2AService/SendMessage", "\0\0\0\0\0", "call lf.a2a.v1.A2AService"],
  ["gRPC-Web", "/a2a.v1.A2AService/SendMessage", "\0\0\0\0\0", "call lf.a2a.v1.A2AService"],
  ["Connect", "/a2a.v1.A2AService/SendMessage", "{}", "call lf.a2a.v1.A2AService"],
];

describe("a name of version 0.3", () => {
  for (const [name, path, body, words] of older) {
    it(`is refused over ${name}, with what to send: ${path} ${body.slice(0, 60)}`, async () => {
      const wire = wires.find((each) => each.name === name) ?? expect.unreachable(`no wire ${name}`);
      const call = encodeCall(wire, { method: "SendMessage", fields: { "a2a-version": undefined } });
      const request = { ...call, target: path, body: new TextEncoder().encode(body) };
      const refusal = await target.refuses(wire, request, { error: "versionNotSupported" });
      expect(refusal.message).toContain(words);
      expect(refusal.message).toContain('"A2A-Version: 1.0"');
    });
  }

  it("is a tenant's over HTTP+JSON, when the request says a version of today", async () => {
    const answer = await target.send({
      http: 1,
      verb: "GET",
      target: "/rest/v1/tasks",
      fields: { "a2a-version": "1.0" },
    });
    expect(answer.status).toBe(200);
  });
});
