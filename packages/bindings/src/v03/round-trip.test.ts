// Every message that operations of 0.3 take and give, from 1.0 to 0.3 and back: as JSON, and as protobuf.
import { readFileSync } from "node:fs";
import { methods } from "@a2a-connect/core";
import { formatMessage, isRequiredField, parseMessage, startWalk } from "@a2a-connect/core/internal";
import { A2AService as OlderService } from "@a2a-connect/proto/a2a/v1";
import {
  type DescField,
  type DescMessage,
  fromBinary,
  type JsonObject,
  type JsonValue,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createForms, type Dialect, type Forms } from "./forms.ts";
import { olderMethods } from "./methods.ts";

const page = readFileSync(new URL("../../../../docs/versions.md", import.meta.url), "utf8");

/** Fields without a form in 0.3, which the way there and back leaves out or changes, by their row of docs/versions.md. */
const lost: Readonly<Record<Dialect | "both", Readonly<Record<string, readonly string[]>>>> = {
  both: {
    "media type or filename of a text part": ["Part.mediaType of text", "Part.filename of text"],
    "media type or filename of a data part": ["Part.mediaType of data", "Part.filename of data"],
    tenants: [
      "CancelTaskRequest.tenant",
      "DeleteTaskPushNotificationConfigRequest.tenant",
      "GetTaskPushNotificationConfigRequest.tenant",
      "GetTaskRequest.tenant",
      "ListTaskPushNotificationConfigsRequest.tenant",
      "SendMessageRequest.tenant",
      "SubscribeToTaskRequest.tenant",
      "TaskPushNotificationConfig.tenant",
    ],
    "generations, which are of the draft of 1.1": [
      "GetTaskRequest.currentGeneration",
      "SendMessageConfiguration.ifGenerationMatch",
      "Task.generation",
      "TaskArtifactUpdateEvent.generation",
      "TaskStatusUpdateEvent.generation",
    ],
    "the task of a webhook that a message registers": ["TaskPushNotificationConfig.taskId"],
  },
  json: {
    "pages of a list of webhooks, over JSON-RPC": [
      "ListTaskPushNotificationConfigsRequest.pageSize",
      "ListTaskPushNotificationConfigsRequest.pageToken",
      "ListTaskPushNotificationConfigsResponse.nextPageToken",
    ],
  },
  proto: {
    "`referenceTaskIds`, over HTTP+JSON and gRPC": ["Message.referenceTaskIds"],
    "metadata of a cancel, over HTTP+JSON and gRPC": ["CancelTaskRequest.metadata"],
    "`historyLength: 0`, over gRPC": ["GetTaskRequest.historyLength"],
    "`historyLength: 0` of a message, over HTTP+JSON and gRPC": ["SendMessageConfiguration.historyLength"],
  },
};

/** What crosses the wire: the message of 1.0, the form, and the message of `a2a.v1`. */
interface Crossing {
  readonly form: keyof Forms;
  readonly desc: DescMessage;
  readonly older: DescMessage;
}

/** A card is read by the client's own reader, whose tests these are: `packages/client/src/card`. */
const crossings = olderMethods
  .flatMap(({ operation, rpc, request, response }): Crossing[] => {
    const { desc } = methods[operation];
    const older = OlderService.method[rpc];
    const asked = request === undefined ? [] : [{ form: request, desc: desc.input, older: older.input }];
    return [...asked, { form: response, desc: desc.output, older: older.output }];
  })
  .filter(({ form }) => form !== "card" && form !== "nothing");

describe.each(["json", "proto"] as const)("the form of %s", (dialect) => {
  const rows = { ...lost.both, ...lost[dialect] };
  const withoutForm = Object.values(rows).flat();
  const changed = new Set<string>();
  it.each(crossings)("of $desc.name keeps every field that has one", ({ form, desc, older }) => {
    fc.assert(
      fc.property(messages(desc, 0), (json) => {
        const before = formatMessage(desc, parseMessage(desc, json)) as JsonObject; // a message is an object
        const after = thereAndBack(dialect, { form, desc, older }, before);
        for (const field of differences(desc, before, after)) {
          changed.add(field);
          expect(withoutForm).toContain(field);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("is missing for the fields that docs/versions.md names, and for no others", () => {
    expect([...changed].sort()).toEqual(withoutForm.sort());
    for (const row of Object.keys(rows)) {
      expect(page).toContain(`| ${row} |`);
    }
  });
});

function thereAndBack(
  dialect: Dialect,
  { form: name, desc, older }: Crossing,
  before: JsonObject,
): JsonObject {
  const form = createForms(dialect)[name];
  const written = form.toOlder(before);
  const received =
    dialect === "json"
      ? JSON.parse(JSON.stringify(written))
      : formatMessage(older, fromBinary(older, toBinary(older, parseMessage(older, written))));
  const walk = startWalk();
  const current = form.toCurrent(received, walk);
  expect(walk.violations).toEqual([]);
  return formatMessage(desc, parseMessage(desc, current)) as JsonObject; // a message is an object
}

/** The fields whose values are not the same, by their message and name; of a part with the kind of its content. */
function differences(desc: DescMessage, before: JsonObject, after: JsonObject): string[] {
  return desc.fields.flatMap((field) => {
    const [one, other] = [before[field.jsonName], after[field.jsonName]];
    if (JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))) return [];
    const inside =
      field.message === undefined || field.message.typeName.startsWith("google.") ? undefined : field.message;
    const [some, others] = [elementsOf(one), elementsOf(other)];
    if (inside !== undefined && some.length === others.length && some.length > 0) {
      return some.flatMap((each, index) => differences(inside, each, others[index] ?? {}));
    }
    const content =
      desc.name !== "Part" ? undefined : ["text", "data", "raw", "url"].find((name) => name in before);
    return [`${desc.name}.${field.jsonName}${content === undefined ? "" : ` of ${content}`}`];
  });
}

function elementsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return (value === undefined ? [] : Array.isArray(value) ? value : [value]) as JsonObject[]; // messages
}

/** With the members of objects in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return Object.fromEntries(members.sort(([one], [other]) => (one < other ? -1 : 1)));
}

const word = fc.stringMatching(/^[a-z0-9 ü-]{1,12}$/);
// Once: fast-check makes a table of all characters for each.
const base64 = fc.base64String();
/** For the paths of `fc.webUrl`, fast-check keeps a table of all characters: 85 MB, as long as the process lives. */
const url = fc
  .tuple(fc.domain(), fc.string())
  .map(([domain, path]) => `https://${domain}/${encodeURIComponent(path)}`);
const value = fc.oneof(word, fc.boolean(), fc.integer(), fc.constant(null), fc.array(word, { maxLength: 2 }));
const struct = fc.dictionary(word, fc.oneof(value, fc.dictionary(word, value, { maxKeys: 2 })), {
  minKeys: 1,
  maxKeys: 3,
});

/** Messages of a type as JSON, made from its descriptor. */
function messages(desc: DescMessage, depth: number): fc.Arbitrary<JsonObject> {
  const plain = desc.fields.filter(({ oneof }) => oneof === undefined || oneof.fields.length === 1);
  // A push config that is set or given out has both; in a message it gets them later.
  const ids = desc.name === "TaskPushNotificationConfig" ? ["id", "taskId"] : [];
  const required = plain.filter((field) => isRequiredField(field)).map(({ jsonName }) => jsonName);
  const members = fc.record(
    Object.fromEntries(plain.map((field) => [field.jsonName, fieldValues(field, depth)])),
    {
      requiredKeys: [...required, ...ids],
    },
  );
  const choices = desc.oneofs
    .filter(({ fields }) => fields.length > 1)
    .map(({ fields }) =>
      fc.oneof(
        ...fields.map((field) => fieldValues(field, depth).map((chosen) => ({ [field.jsonName]: chosen }))),
      ),
    );
  return fc.tuple(members, ...choices).map((all) => Object.assign({}, ...all) as JsonObject);
}

function fieldValues(field: DescField, depth: number): fc.Arbitrary<JsonValue> {
  const one = singleValues(field, depth + 1);
  return field.fieldKind === "list" ? fc.array(one, { minLength: 1, maxLength: 2 }) : one;
}

function singleValues(field: DescField, depth: number): fc.Arbitrary<JsonValue> {
  const { message, enum: names, scalar } = field;
  if (message !== undefined) {
    switch (message.typeName) {
      case "google.protobuf.Struct":
        return struct as fc.Arbitrary<JsonValue>;
      case "google.protobuf.Value":
        return fc.oneof(struct, value) as fc.Arbitrary<JsonValue>;
      case "google.protobuf.Timestamp":
        return fc.constant("2026-01-02T03:04:05.678Z");
      default:
        return messages(message, depth);
    }
  }
  if (names !== undefined) {
    return fc.constantFrom(...names.values.filter(({ number }) => number !== 0).map(({ name }) => name));
  }
  switch (scalar) {
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.BYTES:
      return base64;
    case ScalarType.INT32:
      return fc.constantFrom(0, 1, 2_000);
    case ScalarType.INT64:
      return fc.constantFrom("1", "9007199254740993");
    default:
      return field.jsonName === "url" ? url : word;
  }
}
