import { readFileSync } from "node:fs";
import { file_a2a_v1_a2a } from "@a2a-connect/proto/a2a/v1";
import { describe, expect, it } from "vitest";
import { describeFile } from "./describe-file.ts";
import type { EnumFacts, FieldFacts, MessageFacts } from "./wire-facts.ts";

/** What the descriptor inside a published SDK of 0.3 says; `source` names it. */
interface OlderFacts {
  readonly messages: Record<string, MessageFacts>;
  readonly enums: Record<string, EnumFacts>;
  readonly methods: Record<string, object>;
}

const facts: OlderFacts = JSON.parse(readFileSync(new URL("facts/wire-0.3.json", import.meta.url), "utf8"));
const actual = describeFile(file_a2a_v1_a2a);

const sorted = (names: Iterable<string>): string[] => [...names].sort();
const byNumber = (fields: readonly FieldFacts[]) =>
  Object.fromEntries(fields.map((field) => [field.number, field]));

describe("the file a2a/v1/a2a.proto", () => {
  it("has the messages, enums and methods of the SDK, none missing and none extra", () => {
    expect(Object.keys(facts.messages).length).toBeGreaterThan(40);
    for (const kind of ["messages", "enums"] as const) {
      expect(sorted(Object.keys(actual[kind]))).toEqual(sorted(Object.keys(facts[kind])));
    }
    const methods = actual.services["A2AService"]?.methods ?? {};
    const shown = Object.entries(methods).map(([name, { request, response, serverStreaming, grpcPath }]) => [
      name,
      { request, response, serverStreaming, grpcPath },
    ]);
    expect(Object.fromEntries(shown)).toEqual(facts.methods);
  });

  for (const [name, { fields, ...rest }] of Object.entries(facts.messages)) {
    it(`${name} has the ${fields.length} fields of the SDK`, () => {
      const { fields: found = [], ...others } = actual.messages[name] ?? {};
      expect(others).toEqual(rest);
      expect(byNumber(found)).toEqual(byNumber(fields));
    });
  }

  for (const [name, wanted] of Object.entries(facts.enums)) {
    it(`${name} has the values of the SDK`, () => expect(actual.enums[name]).toEqual(wanted));
  }
});
