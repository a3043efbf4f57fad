import fc from "fast-check";
import { applyDamage, damage } from "./damage.ts";
import type { Entry } from "./entry.ts";
import { jsonEdit } from "./json-edits.ts";
import { protobufEdit } from "./protobuf-edits.ts";
import { type Recorded, recorded } from "./recorded.ts";

/** Header fields that say something to a wire, and what they may say: right, wrong, and no such thing. */
const fieldValues: Readonly<Record<string, readonly string[]>> = {
  "content-type": [
    ..."application/json application/a2a+json application/grpc application/grpc+json application/proto".split(
      " ",
    ),
    ..."application/grpc-web application/connect+proto application/connect+json text/plain / ;".split(" "),
    ...["application/json; charset=utf-16", "application/grpc-web-text", '"'],
  ],
  "a2a-version": ["", "0.3", "1.1", "2.0", "1.0, 1.0", "1.0.0", "x", "\u00ff"],
  "a2a-extensions": ["", ",", "urn:x", "urn:x, urn:y,,", "%", ":"],
  "content-encoding": ["gzip", "br", "identity", "deflate", "gzip, gzip", "x", ""],
  "grpc-encoding": ["gzip", "br", "identity", "x", ""],
  "connect-content-encoding": ["gzip", "x"],
  "accept-encoding": ["gzip", "br", "*;q=0", "gzip;q=x", ",", ""],
  "grpc-accept-encoding": ["gzip", "br,gzip", ","],
  "grpc-timeout": ["1n", "0S", "99999999H", "999999999H", "-1S", "1", "S", "1.5S", ""],
  "connect-timeout-ms": ["0", "1", "9999999999", "99999999999", "-1", "x", ""],
  "connect-protocol-version": ["2", "", "x"],
  "last-event-id": ["0", "-1", "1", "99999999999999999999", "x", ""],
  accept: ["application/json", "text/event-stream", "*/*;q=0", "x"],
  traceparent: ["00-0-0-0", "x"],
  authorization: ["Bearer", "Bearer x", "Basic %"],
  te: ["trailers"],
};

const fieldChange = fc
  .constantFrom(...Object.keys(fieldValues))
  .chain((name) =>
    fc.record({ name: fc.constant(name), value: fc.constantFrom(...(fieldValues[name] ?? [])) }),
  );

/** What a path or a query may have at any place. */
const targetPiece = fc.constantFrom(
  ...[
    "/",
    "//",
    "?",
    "&",
    "=",
    "%",
    "%00",
    "%2F",
    "%C3",
    "%C3%A9",
    "%",
    ":",
    ":cancel",
    "..",
    "+",
    ",",
    ";",
    "*",
  ],
  ..."pageSize=0 &pageSize=1e9 &page_size=2 &historyLength=-1 &status=9 &tenant=t &A2A-Version=0.3 /tenant".split(
    " ",
  ),
);

const targetChange = fc.record({ place: fc.nat({ max: 999 }), piece: targetPiece });

const few = <Value>(values: fc.Arbitrary<Value>, maxLength: number) => fc.array(values, { maxLength });

/** Mostly one kind of change: a request that is wrong in every way is refused for the first one. */
const changes = fc.oneof(
  { weight: 6, arbitrary: changesOf({ edits: 4, damages: 0, fields: 0, targets: 0 }) },
  { weight: 3, arbitrary: changesOf({ edits: 0, damages: 3, fields: 0, targets: 0 }) },
  { weight: 2, arbitrary: changesOf({ edits: 0, damages: 0, fields: 3, targets: 0 }) },
  { weight: 2, arbitrary: changesOf({ edits: 1, damages: 0, fields: 0, targets: 2 }) },
  { weight: 1, arbitrary: changesOf({ edits: 2, damages: 1, fields: 2, targets: 1 }) },
);

function changesOf(most: Readonly<Record<"edits" | "damages" | "fields" | "targets", number>>) {
  return fc.record({
    edits: fc.record({
      json: few(jsonEdit, most.edits),
      protobuf: few(protobufEdit, most.edits),
      compressed: most.edits === 0 ? fc.constant(false) : fc.nat({ max: 9 }).map((number) => number === 9),
    }),
    damages: few(damage, most.damages),
    fields: few(fieldChange, most.fields),
    targets: few(targetChange, most.targets),
  });
}

/** Requests that were good once. */
export function mutatedRequests(of: readonly Recorded[] = recorded): fc.Arbitrary<Entry> {
  return fc.tuple(fc.constantFrom(...of), changes).map(([request, { edits, damages, fields, targets }]) => {
    const entry = request.make(edits);
    const changed = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
    return {
      ...entry,
      target: targets.reduce((target, { place, piece }) => {
        const at = 1 + (place % target.length); // it begins with a slash: otherwise it is no path
        return target.slice(0, at) + piece + target.slice(at);
      }, entry.target),
      fields: { ...entry.fields, ...changed },
      body: entry.verb === "GET" ? entry.body : damages.reduce(applyDamage, entry.body),
    };
  });
}
