// The same request has one fingerprint, whatever wire carries it and in whatever order its maps are written.
import { bytes, json, text } from "@a2a-connect/core";
import { type SendMessageRequest, SendMessageRequestSchema } from "@a2a-connect/proto";
import { say, taskOf } from "@a2a-connect/testing";
import { create, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, it } from "vitest";
import { keyed, startServer, wireNames } from "./idempotent-server.ts";

const key = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 4 }).filter((name) => name !== "__proto__"),
  fc.nat({ max: 20 }).map(String), // objects keep these in an order of their own
);
const { object } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, -0, "", 1e300, 2 ** 53, 0.1),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: "grapheme", maxLength: 5 }),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.dictionary(key, tie("value"), { maxKeys: 4 }),
}));

const requests: fc.Arbitrary<SendMessageRequest> = fc
  .record({
    metadata: object,
    data: object,
    raw: fc.uint8Array({ maxLength: 9 }),
    tenant: fc.constantFrom("", "a"),
  })
  .map(({ metadata, data, raw, tenant }) => {
    const parts = [text("task"), json(data), bytes(raw, { mediaType: "application/json", metadata })];
    return create(SendMessageRequestSchema, { ...say(parts, { metadata }), metadata, tenant });
  });

/** The same JSON with the members of every object in another order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([name, member]) => [name, reversed(member)]));
}

it("a request is the same one over every wire, and with its maps in another order", async () => {
  const { client, counting, url } = await startServer("memory");
  const runs = 40;
  await fc.assert(
    fc.asyncProperty(requests, fc.uuid(), async (request, id) => {
      const ids = new Set<string>();
      for (const wire of wireNames) ids.add(taskOf(await client(wire).sendMessage(request, keyed(id))).id);
      const params = reversed(toJson(SendMessageRequestSchema, request));
      const response = await fetch(`${url}/rpc`, {
        method: "POST",
        headers: { "a2a-version": "1.0", "content-type": "application/json", "idempotency-key": id },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params }),
      });
      ids.add((await response.json()).result?.task?.id);
      expect(ids.size).toBe(1);
    }),
    { numRuns: runs, endOnFailure: true },
  );
  expect(counting.runs).toHaveLength(runs);
});
