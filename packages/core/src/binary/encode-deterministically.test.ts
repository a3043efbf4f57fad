import {
  AuthenticationInfoSchema,
  type SendMessageRequest,
  SendMessageRequestSchema,
} from "@a2a-connect/proto";
import { create, fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseMessage } from "../json/parse-json.ts";
import { encodeDeterministically } from "./encode.ts";

/** Any JSON object; keys that look like numbers are there too, because objects keep those in an order of their own. */
const key = fc.oneof(
  fc.string({ maxLength: 4 }).filter((text) => text !== "__proto__"),
  fc.nat({ max: 20 }).map(String),
);
const { object } = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, 0, -0, "", 1e300, -1.5, 2 ** 53),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: "grapheme", maxLength: 5 }),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.dictionary(key, tie("value"), { maxKeys: 4 }),
}));

interface Content {
  readonly metadata: Record<string, unknown>;
  readonly data: unknown;
  readonly raw: Uint8Array;
}

const content: fc.Arbitrary<Content> = fc.record({ metadata: object, data: object, raw: fc.uint8Array() });

function toRequestJson({ metadata, data, raw }: Content): Record<string, unknown> {
  return {
    tenant: "acme",
    message: {
      messageId: "m",
      role: "ROLE_USER",
      parts: [{ data, metadata }, { raw: base64Encode(raw) }, { text: "" }],
      metadata,
    },
    metadata,
  };
}

/** The same JSON with the members of every object in another order. */
function shuffled(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(shuffled);
  if (typeof json !== "object" || json === null) return json;
  return Object.fromEntries(
    Object.entries(json)
      .reverse()
      .map(([name, value]) => [name, shuffled(value)]),
  );
}

const parse = (json: unknown): SendMessageRequest => parseMessage(SendMessageRequestSchema, json);
const encode = (request: SendMessageRequest) => encodeDeterministically(SendMessageRequestSchema, request);

describe("encodeDeterministically", () => {
  it("gives a request one encoding, whatever the order of its maps and the wire it came over", () => {
    fc.assert(
      fc.property(content, (sample) => {
        const request = parse(toRequestJson(sample));
        const encoded = encode(request);
        const overBinary = fromBinary(SendMessageRequestSchema, toBinary(SendMessageRequestSchema, request));
        const overJson = parse(JSON.parse(JSON.stringify(toJson(SendMessageRequestSchema, request))));
        for (const same of [parse(shuffled(toRequestJson(sample))), overBinary, overJson]) {
          expect(encode(same)).toEqual(encoded);
        }
      }),
    );
  });

  it("keeps everything that a request says", () => {
    fc.assert(
      fc.property(content, (sample) => {
        const withMetadata = { ...sample, metadata: { ...sample.metadata, some: "thing" } };
        const request = parse(JSON.parse(JSON.stringify(toRequestJson(withMetadata)))); // where -0 is 0
        expect(fromBinary(SendMessageRequestSchema, encode(request))).toEqual(request);
      }),
    );
  });

  it("writes keys in their order at every depth", () => {
    const text = new TextDecoder().decode(
      encode(
        parse(
          toRequestJson({
            metadata: {},
            data: { zz: { yy: 1, xx: [{ ww: 1, vv: 2 }] }, aa: 1 },
            raw: new Uint8Array(),
          }),
        ),
      ),
    );
    expect(text.match(/aa|xx|yy|zz|vv|ww/g)).toEqual(["aa", "zz", "xx", "vv", "ww", "yy"]);
  });

  it("takes a message with nothing in it for none, except in a oneof", () => {
    const encoded = encode(create(SendMessageRequestSchema, {}));
    expect(encode(create(SendMessageRequestSchema, { configuration: {}, metadata: {} }))).toEqual(encoded);
    const withData = (data: unknown) => encode(parse({ message: { parts: [{ data }] } }));
    expect(withData({})).not.toEqual(withData([]));
  });

  it("leaves out unknown fields, at every depth", () => {
    const request = parse(toRequestJson({ metadata: {}, data: {}, raw: new Uint8Array() }));
    const encoded = encode(request);
    const unknown = { no: 999, wireType: 0, data: new Uint8Array([1]) };
    request.$unknown = [unknown];
    for (const part of request.message?.parts ?? []) part.$unknown = [unknown];
    expect(encode(request)).toEqual(encoded);
  });

  it("leaves out the fields it is told to, and changes nothing in the message", () => {
    const withCredentials = (credentials: string) =>
      create(SendMessageRequestSchema, {
        configuration: {
          taskPushNotificationConfig: {
            url: "https://example.com",
            authentication: { scheme: "Bearer", credentials },
          },
        },
      });
    const request = withCredentials("secret");
    const omit = new Set([AuthenticationInfoSchema.field.credentials]);
    const encoded = encodeDeterministically(SendMessageRequestSchema, request, omit);
    expect(encoded).toEqual(encode(withCredentials("")));
    expect(request).toEqual(withCredentials("secret"));
  });
});
