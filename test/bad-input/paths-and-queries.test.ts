import { describe, expect, it } from "vitest";
import { type Expected, findProblem, serveTarget } from "./target.ts";
import { encodeCall, type Wire, wires } from "./wires.ts";

const target = serveTarget();
const httpJson = wires.find(({ protocol }) => protocol === "http-json") as Wire; // it is in the list

const fields = { "a2a-version": "1.0", "content-type": "application/json" };

interface Row {
  readonly verb?: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
  readonly expected: Expected;
}

function invalid(field: string): Expected {
  return { error: "invalidParams", field };
}

/** Requirements K-2, K-5, K-6, P-3: what only HTTP+JSON can get wrong. */
const rows: readonly Row[] = [
  { verb: "POST", path: "/rest/tasks/a:cancel", body: '{"id":"b"}', expected: invalid("id") },
  { verb: "POST", path: "/rest/acme/message:send", body: '{"tenant":"globex"}', expected: invalid("tenant") },
  { path: "/rest/acme/tasks?tenant=globex", expected: invalid("tenant") },
  { path: "/rest/tasks?tenant=a&tenant=b", expected: invalid("tenant") },
  { path: "/rest/tasks?pageSize=1&pageSize=2", expected: invalid("pageSize") },
  { path: "/rest/tasks?pageSize=1&page_size=2", expected: invalid("pageSize") },
  { path: "/rest/tasks?pageSize=", expected: invalid("pageSize") },
  { path: "/rest/tasks?pageSize=0x10", expected: invalid("pageSize") },
  { path: "/rest/tasks?pageSize=%2B1", expected: invalid("pageSize") },
  { path: "/rest/tasks?pageSize=1e1", expected: invalid("pageSize") },
  { path: "/rest/tasks?includeArtifacts=1", expected: invalid("includeArtifacts") },
  { path: "/rest/tasks?includeArtifacts=TRUE", expected: invalid("includeArtifacts") },
  { path: "/rest/tasks?status=working", expected: invalid("status") },
  { path: "/rest/tasks?historyLength=-1", expected: invalid("historyLength") },
  { path: "/rest/tasks/%00", expected: { error: "taskNotFound" } },
  { path: "/rest/tasks/%2e%2e%2fetc%2fpasswd", expected: { error: "taskNotFound" } },
  { path: `/rest/tasks/${"t".repeat(500)}`, expected: { error: "taskNotFound" } },
  { path: "/rest/tasks/tasks", expected: { error: "taskNotFound" } },
];

describe("a path or query that says the wrong thing", () => {
  for (const { verb = "GET", path, body, expected } of rows) {
    it(`is refused: ${verb} ${path.slice(0, 50)}`, async () => {
      const request = { http: 1, verb, target: path, fields } as const;
      const bytes = body === undefined ? {} : { body: new TextEncoder().encode(body) };
      await target.refuses(httpJson, { ...request, ...bytes }, expected);
    });
  }

  for (const path of [
    "/rest/tasks?foo=1&__proto__=2&constructor=3",
    "/rest/tasks?page_size=5",
    "/rest/tasks?&&&",
    "/rest/tasks?pageSize=5&pageSize=5",
    `/rest/tasks?x${"&x".repeat(99)}`,
    `/rest/tasks?ignored=${"x".repeat(8_000)}`,
  ]) {
    it(`is taken when it is only unusual: ${path.slice(0, 50)}`, async () => {
      const answer = await target.send({ http: 1, verb: "GET", target: path, fields });
      expect(findProblem(httpJson, answer)).toBeUndefined();
    });
  }

  for (const wire of wires) {
    it(`is refused when it has more than 100 parameters, over ${wire.name}`, async () => {
      const call = { method: "ListTasks", query: `x${"&x".repeat(100)}` } as const;
      await target.refuses(wire, encodeCall(wire, call), { error: "invalidParams" });
    });
  }

  for (const query of ["contextId=%ff", "contextId=%C0%AF", "pageToken=%ed%a0%80"]) {
    it(`is refused when it is no UTF-8: ${query}`, async () => {
      const request = { http: 1, verb: "GET", target: `/rest/tasks?${query}`, fields } as const;
      await target.refuses(httpJson, request, { error: "invalidParams" });
    });
  }
});
