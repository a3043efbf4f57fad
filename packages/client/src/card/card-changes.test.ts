import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { agentCard, agentInterface } from "../../test-support/cards.ts";
import { describeChanges } from "./card-changes.ts";

type Init = NonNullable<Parameters<typeof agentCard>[0]>;

const skill = (id: string, description = id) => ({ id, name: id, description, tags: [] });
const key = (name: string) =>
  ({ scheme: { case: "apiKeySecurityScheme", value: { location: "header", name } } }) as const;

describe("what has changed between two cards", () => {
  for (const [what, before, after, sentences] of [
    ["nothing", {}, {}, []],
    [
      "words and signatures",
      { description: "x" },
      { description: "y", signatures: [{ protected: "x" }] },
      [],
    ],
    ["the version", {}, { version: "2.0.0" }, ["The version was 1.2.3 and is 2.0.0."]],
    ["the name", {}, { name: "Archivist" }, ["The name was Clerk and is Archivist."]],
    [
      "skills",
      { skills: [skill("a"), skill("b"), skill("c")] },
      { skills: [skill("d"), skill("c", "Other words."), skill("a")] },
      ["New among the skills: d.", "No longer among the skills: b.", "Changed skills: c."],
    ],
    ["the order of skills", { skills: [skill("a"), skill("b")] }, { skills: [skill("b"), skill("a")] }, []],
    [
      "interfaces",
      {},
      { supportedInterfaces: [agentInterface({ url: "https://new.example/rpc?x=1", tenant: "acme" })] },
      [
        "New among the interfaces: A2A 1.0 over JSONRPC at https://new.example/rpc, tenant acme.",
        "No longer among the interfaces: A2A 1.0 over JSONRPC at https://clerk.example/rpc.",
      ],
    ],
    [
      "the order of interfaces",
      { supportedInterfaces: [agentInterface(), agentInterface({ protocolBinding: "GRPC" })] },
      { supportedInterfaces: [agentInterface({ protocolBinding: "GRPC" }), agentInterface()] },
      ["The interfaces have another order."],
    ],
    [
      "capabilities",
      { capabilities: { streaming: true, extensions: [{ uri: "urn:x" }] } },
      {
        capabilities: {
          streaming: false,
          pushNotifications: true,
          extensions: [{ uri: "urn:x", required: true }],
        },
      },
      [
        "New among the capabilities: pushNotifications, urn:x (required).",
        "No longer among the capabilities: streaming, urn:x.",
      ],
    ],
    [
      "the parameters of extensions",
      {
        capabilities: {
          extensions: [
            { uri: "urn:x", params: { a: 1, b: [{}] } },
            { uri: "urn:y", params: { a: 1, b: { c: 2, d: 3 } } },
            { uri: "urn:z" },
          ],
        },
      },
      {
        capabilities: {
          extensions: [
            { uri: "urn:z", params: { a: false } },
            { uri: "urn:y", params: { b: { d: 3, c: 2 }, a: 1 }, description: "Other words." },
            { uri: "urn:x", params: { a: 1, b: [] } },
          ],
        },
      },
      ["Other parameters of these extensions: urn:x, urn:z."],
    ],
    [
      "who offers it",
      { provider: { organization: "Clerks Ltd", url: "https://clerks.example" } },
      { provider: { organization: "Mallory", url: "https://clerks.example" } },
      ["The provider was Clerks Ltd and is Mallory."],
    ],
    [
      "modes",
      {},
      { defaultInputModes: ["text/plain", "image/png"], defaultOutputModes: ["text/plain"] },
      [
        "New among the default input modes: image/png.",
        "No longer among the default output modes: application/json.",
      ],
    ],
    [
      "security",
      { securitySchemes: { a: key("x") } },
      { securitySchemes: { a: key("y") } },
      ["What callers must present has changed."],
    ],
    [
      "the order of schemes",
      { securitySchemes: { a: key("x"), b: key("y") } },
      { securitySchemes: { b: key("y"), a: key("x") } },
      [],
    ],
    [
      "the security that is required",
      {},
      { securityRequirements: [{ schemes: { a: { list: [] } } }] },
      ["What callers must present has changed."],
    ],
  ] satisfies [string, Init, Init, string[]][]) {
    it(`is told in a sentence for each thing: ${what}`, () => {
      expect(describeChanges(agentCard(before), agentCard(after))).toEqual(sentences);
    });
  }

  for (const [what, before, after] of [
    [
      "modes",
      (count) => ({ defaultInputModes: names("old", count) }),
      (count) => ({ defaultInputModes: names("new", count) }),
    ],
    [
      "extensions",
      (count) => ({ capabilities: { extensions: names("old", count).map((uri) => ({ uri })) } }),
      (count) => ({ capabilities: { extensions: names("new", count).map((uri) => ({ uri })) } }),
    ],
    [
      "repeats of an extension",
      (count) => ({ capabilities: { extensions: [{ uri: "urn:x", params: members(count) }] } }),
      (count) => ({ capabilities: { extensions: names("", count).map(() => ({ uri: "urn:x" })) } }),
    ],
    [
      "repeats of a skill",
      (count) => ({ skills: [{ ...skill("a"), securityRequirements: [{ schemes: schemes(count) }] }] }),
      (count) => ({
        skills: names("", count).map(() => ({ ...skill("a"), securityRequirements: [{}] })),
      }),
    ],
  ] satisfies [string, (count: number) => Init, (count: number) => Init][]) {
    it(`is found at a cost that is linear in both, when cards have many ${what}`, () => {
      const readsFor = (count: number): number => {
        const reads = { count: 0 };
        describeChanges(counted(agentCard(before(count)), reads), counted(agentCard(after(count)), reads));
        return reads.count;
      };
      expect(readsFor(400)).toBeLessThan(2.5 * readsFor(200));
    });
  }
});

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}${at}`);
}

function members(count: number): JsonObject {
  return Object.fromEntries(names("m", count).map((name) => [name, 1]));
}

function schemes(count: number): Record<string, object> {
  return Object.fromEntries(names("s", count).map((name) => [name, {}]));
}

/** The same value, which counts what is read of it: members, and lists of their names. */
function counted<T>(value: T, reads: { count: number }): T {
  if (typeof value !== "object" || value === null) return value;
  return new Proxy(value, {
    get(target, name, self) {
      reads.count += 1;
      return counted(Reflect.get(target, name, self), reads);
    },
    ownKeys(target) {
      const keys = Reflect.ownKeys(target);
      reads.count += keys.length;
      return keys;
    },
  });
}
