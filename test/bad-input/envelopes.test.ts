import { describe, expect, it } from "vitest";
import { serveTarget } from "./target.ts";
import { encodeBytes, type Wire, wires } from "./wires.ts";

const target = serveTarget();
const [jsonRpc] = wires as readonly [Wire];

type Row = readonly [
  title: string,
  /** The whole body, as JSON or its text. */
  body: unknown,
  code: number,
  id: string | number | null,
  field?: string,
];

const call = { jsonrpc: "2.0", id: 7, method: "ListTasks", params: {} };
const noJson = -32700;
const invalidRequest = -32600;
const unknownMethod = -32601;
const invalidParams = -32602;

/** Requirements I-2, I-8, I-9, I-13. */
const rows: readonly Row[] = [
  ["no JSON", "{", noJson, null, ""],
  ["nothing", "", noJson, null, ""],
  ["100,000 open brackets", "[".repeat(100_000), noJson, null, ""],
  ["a member twice", '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{},"params":{}}', noJson, null, ""],
  ["a batch", [call], invalidRequest, null],
  ["a batch of nothing", [], invalidRequest, null],
  ["a word", '"hello"', invalidRequest, null],
  ["null", "null", invalidRequest, null],
  ["a number", "5", invalidRequest, null],
  ["an empty object", {}, invalidRequest, null, "id"],
  ["no id", { ...call, id: undefined }, invalidRequest, null, "id"],
  ["a fraction for an id", { ...call, id: 1.5 }, invalidRequest, null, "id"],
  ["true for an id", { ...call, id: true }, invalidRequest, null, "id"],
  ["an object for an id", { ...call, id: {} }, invalidRequest, null, "id"],
  ["a long id", { ...call, id: "x".repeat(513) }, invalidRequest, null, "id"],
  [
    "an id too large to echo",
    '{"jsonrpc":"2.0","id":9007199254740993,"method":"GetTask"}',
    invalidRequest,
    null,
    "id",
  ],
  ["an id that JSON numbers cannot carry", { ...call, id: 1e300 }, invalidRequest, null, "id"],
  ["no jsonrpc", { ...call, jsonrpc: undefined }, invalidRequest, 7, "jsonrpc"],
  ["jsonrpc 1.0", { ...call, jsonrpc: "1.0" }, invalidRequest, 7, "jsonrpc"],
  ["jsonrpc as a number", { ...call, jsonrpc: 2 }, invalidRequest, 7, "jsonrpc"],
  ["no method", { ...call, method: undefined }, invalidRequest, 7, "method"],
  ["a number for a method", { ...call, method: 5 }, invalidRequest, 7, "method"],
  ["an unknown method", { ...call, method: "Nope" }, unknownMethod, 7],
  ["a method in lower case", { ...call, method: "listTasks" }, unknownMethod, 7],
  ["an empty method", { ...call, method: "" }, unknownMethod, 7],
  ["__proto__ for a method", { ...call, method: "__proto__" }, unknownMethod, 7],
  ["constructor for a method", { ...call, method: "constructor" }, unknownMethod, 7],
  ["a list for params", { ...call, params: [{}] }, invalidParams, 7, "params"],
  ["a word for params", { ...call, params: "x" }, invalidParams, 7, "params"],
  [
    "0 for an id and unknown params",
    { ...call, id: 0, params: { pageSize: -1 } },
    invalidParams,
    0,
    "pageSize",
  ],
  ["a long id", { ...call, id: "i".repeat(512), method: "Nope" }, unknownMethod, "i".repeat(512)],
  ["an empty id", { ...call, id: "", method: "Nope" }, unknownMethod, ""],
  ["null for an id", { ...call, id: null, method: "Nope" }, unknownMethod, null],
];

/** The numbers of the envelope are JSON-RPC's own; params have a reason as on the other wires. */
function detailsOf(code: number, field = ""): unknown[] {
  const violation = { ...(field === "" ? {} : { field }), description: expect.any(String) };
  const reason = expect.objectContaining({ reason: "INVALID_PARAMS", domain: "a2a-protocol.org" });
  const type = "type.googleapis.com/google.rpc.BadRequest";
  return [...(code === invalidParams ? [reason] : []), { "@type": type, fieldViolations: [violation] }];
}

describe("a bad JSON-RPC envelope", () => {
  for (const [title, body, code, id, field] of rows) {
    it(`is refused: ${title}`, async () => {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const answer = await target.send(encodeBytes(jsonRpc, new TextEncoder().encode(text)));
      expect(answer.status).toBe(200);
      expect(JSON.parse(new TextDecoder().decode(answer.body))).toEqual({
        jsonrpc: "2.0",
        id,
        error: {
          code,
          message: expect.stringMatching(code === unknownMethod ? /^Method not found/ : /\w/),
          ...(code === unknownMethod ? {} : { data: detailsOf(code, field) }),
        },
      });
      await target.answersGoodCall(jsonRpc);
    });
  }

  it("is none with a __proto__ member, which is ignored like any unknown one (H-6)", async () => {
    const text = '{"__proto__":{"polluted":true},"jsonrpc":"2.0","id":7,"method":"ListTasks"}';
    const answer = await target.send(encodeBytes(jsonRpc, new TextEncoder().encode(text)));
    expect(JSON.parse(new TextDecoder().decode(answer.body))).toHaveProperty("result.tasks");
    expect("polluted" in {}).toBe(false);
  });
});
