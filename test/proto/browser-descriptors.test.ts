import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as a2a from "@a2a-connect/proto";
import * as details from "@a2a-connect/proto/google/rpc/error_details";
import * as status from "@a2a-connect/proto/google/rpc/status";
import type { DescField, DescFile, DescMessage, DescMethod } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { repositoryRoot } from "./run-buf.ts";

/** What the package exports under the condition `browser`: the names that it exports elsewhere. */
const load = (path: string) => import(pathToFileURL(join(repositoryRoot, "gen/src", path)).href);
const a2aForPages: typeof a2a = await load("lf/a2a/v1/a2a_browser.ts");
const statusForPages: typeof status = await load("google/rpc/status_browser.ts");
const detailsForPages: typeof details = await load("google/rpc/error_details_browser.ts");

/** All that is read of descriptors, without options, by plain values. */
function factsOf(file: DescFile): unknown {
  return {
    name: file.name,
    edition: file.edition,
    enums: file.enums.map(({ typeName, open, sharedPrefix, values }) => ({
      typeName,
      open,
      sharedPrefix,
      values: values.map(({ name, localName, jsonName, number }) => ({ name, localName, jsonName, number })),
    })),
    messages: file.messages.map(messageFacts),
    services: file.services.map(({ typeName, methods }) => ({ typeName, methods: methods.map(methodFacts) })),
  };
}

function messageFacts({ typeName, name, fields, oneofs, nestedMessages }: DescMessage): unknown {
  return {
    typeName,
    name,
    fields: fields.map(fieldFacts),
    oneofs: oneofs.map((each) => ({
      name: each.name,
      localName: each.localName,
      fields: each.fields.map((field) => field.localName),
    })),
    nested: nestedMessages.map(messageFacts),
  };
}

/** Every member that is no descriptor, and the names of those that are. */
function fieldFacts(field: DescField): unknown {
  const plain = Object.entries(field).filter(([name]) => !["proto", "deprecated"].includes(name));
  return Object.fromEntries(
    plain.map(([name, value]) => [
      name,
      typeof value === "object" && value !== null ? String(value) : plainOf(value),
    ]),
  );
}

function plainOf(value: unknown): unknown {
  return typeof value === "function" ? "function" : value;
}

function methodFacts({ name, localName, methodKind, input, output, idempotency }: DescMethod): unknown {
  return { name, localName, methodKind, input: input.typeName, output: output.typeName, idempotency };
}

/** The files that a file needs, by name. */
function dependenciesOf(file: DescFile): ReadonlyMap<string, DescFile> {
  return new Map(file.dependencies.flatMap((each) => [[each.name, each] as const, ...dependenciesOf(each)]));
}

describe.each([
  ["A2A", a2a, a2a.file_lf_a2a_v1_a2a, a2aForPages, a2aForPages.file_lf_a2a_v1_a2a],
  ["a status", status, status.file_google_rpc_status, statusForPages, statusForPages.file_google_rpc_status],
  [
    "error details",
    details,
    details.file_google_rpc_error_details,
    detailsForPages,
    detailsForPages.file_google_rpc_error_details,
  ],
] as const)("what pages load as the messages of %s", (_, module, file, moduleForPages, fileForPages) => {
  it("has the same descriptors", () => {
    expect(file.messages.length).toBeGreaterThan(0);
    expect(factsOf(fileForPages)).toEqual(factsOf(file));
  });

  it("has the same well-known types, and needs no other file", () => {
    const all = dependenciesOf(file);
    const needed = [...dependenciesOf(fileForPages).values()];
    expect(needed.length).toBeGreaterThan(0);
    expect(needed.map(factsOf)).toEqual(needed.map(({ name }) => factsOf(all.get(name) as DescFile)));
  });

  it("exports the same names, for the same types", () => {
    expect(Object.keys(moduleForPages).sort()).toEqual(Object.keys(module).sort());
    const names = (each: object) => Object.entries(each).map(([name, value]) => [name, String(value)]);
    expect(names(moduleForPages).sort()).toEqual(names(module).sort());
  });
});
