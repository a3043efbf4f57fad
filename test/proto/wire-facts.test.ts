import { file_lf_a2a_v1_a2a } from "@a2a-connect/proto";
import { file_google_rpc_code } from "@a2a-connect/proto/google/rpc/code";
import { file_google_rpc_error_details } from "@a2a-connect/proto/google/rpc/error_details";
import { file_google_rpc_status } from "@a2a-connect/proto/google/rpc/status";
import { describe, expect, it } from "vitest";
import { describeFile } from "./describe-file.ts";
import { type FieldFacts, type MessageFacts, readWireDelta, readWireFacts } from "./wire-facts.ts";

/*
 * The descriptors that every wire derives from, against the committed facts: A2A 1.0 and, on top of it, the draft of
 * 1.1. Each title counts the facts it compares; order counts for imports, HTTP rules, enum values and oneof members,
 * and not for messages, methods and fields, which have names and numbers of their own.
 */

const facts = readWireFacts();
const delta = readWireDelta();
const actual = describeFile(file_lf_a2a_v1_a2a);
const rpc = [file_google_rpc_status, file_google_rpc_error_details].map(describeFile);

/** The facts as one flat table from path to value, so that a difference is one line and the rows can be counted. */
function table(value: unknown, path = ""): Record<string, unknown> {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (entries.length === 0) return path === "" ? {} : { [path]: value };
  return Object.assign(
    {},
    ...entries.map(([key, item]) => table(item, path === "" ? key : `${path}.${key}`)),
  );
}

const count = (value: unknown): number => Object.keys(table(value)).length;

/** Fails on any difference, and when there was nothing to compare. */
function expectFacts(found: unknown, wanted: unknown): void {
  expect(count(wanted)).toBeGreaterThan(0);
  expect(table(found)).toStrictEqual(table(wanted));
}

/** Fields by name, so that their order in the file does not matter. */
function byName<T extends { name: string }>(fields: readonly T[]): Record<string, T> {
  const named = Object.fromEntries(fields.map((field) => [field.name, field]));
  expect(Object.keys(named)).toHaveLength(fields.length);
  return named;
}

function withDraft(name: string, message: MessageFacts): object {
  return { ...message, fields: byName([...message.fields, ...(delta.addedFields[name] ?? [])]) };
}

const sorted = (names: Iterable<string>): string[] => [...names].sort();

describe("the file lf/a2a/v1/a2a.proto", () => {
  const { package: name, syntax, imports, options } = facts;
  const wanted = { name, syntax, imports, options };

  it(`has the package, syntax, imports and options of A2A (${count(wanted)} facts)`, () => {
    expectFacts(
      { name: actual.package, syntax: actual.syntax, imports: actual.imports, options: actual.options },
      wanted,
    );
  });
});

describe("messages", () => {
  const names = sorted(Object.keys(facts.messages));

  it(`are the ${names.length} of A2A, none missing and none extra`, () => {
    expect(names).not.toHaveLength(0);
    expect(sorted(Object.keys(actual.messages))).toStrictEqual(names);
  });

  for (const [name, wanted] of Object.entries(facts.messages)) {
    it(`${name} is as A2A says, drafts included (${count(withDraft(name, wanted))} facts)`, () => {
      const found = actual.messages[name];
      expectFacts(found && { ...found, fields: byName(found.fields) }, withDraft(name, wanted));
    });
  }
});

describe("enums", () => {
  const names = sorted(Object.keys(facts.enums));

  it(`are the ${names.length} of A2A, none missing and none extra`, () => {
    expect(names).not.toHaveLength(0);
    expect(sorted(Object.keys(actual.enums))).toStrictEqual(names);
  });

  for (const [name, wanted] of Object.entries(facts.enums)) {
    it(`${name} is as A2A says (${count(wanted)} facts)`, () => expectFacts(actual.enums[name], wanted));
  }
});

describe("the service", () => {
  const methods = Object.entries(facts.services).flatMap(([service, { methods: found }]) =>
    Object.entries(found).map(([method, wanted]) => ({ service, method, wanted })),
  );

  it(`has the ${methods.length} methods of A2A, none missing and none extra`, () => {
    expect(methods).not.toHaveLength(0);
    const found = Object.entries(actual.services).flatMap(([service, { methods: its }]) =>
      Object.keys(its).map((method) => `${service}.${method}`),
    );
    expect(sorted(found)).toStrictEqual(sorted(methods.map(({ service, method }) => `${service}.${method}`)));
  });

  it("has the names of A2A", () => {
    const names = (services: typeof facts.services) =>
      Object.entries(services).map(([name, { fullName }]) => ({ name, fullName }));
    expectFacts(names(actual.services), names(facts.services));
  });

  for (const { service, method, wanted } of methods) {
    it(`${method} is as A2A says (${count(wanted)} facts)`, () => {
      expectFacts(actual.services[service]?.methods[method], wanted);
    });
  }
});

describe("the draft of A2A 1.1", () => {
  const added = Object.values(delta.addedFields).flat().length;

  it(`adds ${added} fields and nothing else`, () => {
    const beyond: Record<string, FieldFacts[]> = {};
    for (const [name, message] of Object.entries(actual.messages)) {
      const stable = new Set(facts.messages[name]?.fields.map((field) => field.name));
      const extra = message.fields.filter((field) => !stable.has(field.name));
      if (extra.length > 0) beyond[name] = extra;
    }
    expectFacts(beyond, delta.addedFields);
  });

  it("changes nothing that this comparison leaves out", () => {
    const {
      addedFields: _fields,
      addedErrors: _errors,
      base: _base,
      target: _target,
      source: _source,
      ...rest
    } = delta;
    expect(Object.keys(rest)).not.toHaveLength(0);
    for (const change of Object.values(rest)) expect(Object.keys(Object(change))).toHaveLength(0);
  });
});

describe("google.rpc", () => {
  const { code, ...messages } = facts.googleRpc;

  for (const [typeName, { fields }] of Object.entries(messages)) {
    it(`${typeName} is as the error details need it (${count(fields)} facts)`, () => {
      const found = rpc
        .flatMap((file) => Object.values(file.messages))
        .find((message) => message.fullName === typeName)
        ?.fields.map(({ name, number, jsonName, type, label }) => ({ name, number, jsonName, type, label }));
      expectFacts(found && byName(found), byName(fields));
    });
  }

  it(`Code is as the status of an error needs it (${count(code)} facts)`, () => {
    const found = describeFile(file_google_rpc_code).enums["Code"]?.values;
    expectFacts(found && Object.fromEntries(found.map(({ name, number }) => [name, number])), code);
  });
});
