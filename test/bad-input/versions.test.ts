import { describe, expect, it } from "vitest";
import { findProblem, serveTarget } from "./target.ts";
import { type Call, encodeCall, wires } from "./wires.ts";

const target = serveTarget();

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
