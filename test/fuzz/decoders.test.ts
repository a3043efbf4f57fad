// Decoders without a server: bytes that were good once, beside what the platform or protobuf-es reads in them.

import { CardInvalidError } from "@a2a-connect/client";
import { readCard } from "@a2a-connect/client/internal";
import {
  DecodeError,
  type DecodeOptions,
  decodeInSteps,
  decodeMessage,
  findWrongFields,
  parseMessage,
  readJsonText,
} from "@a2a-connect/core/internal";
import { CardTextError, canonicalCard } from "@a2a-connect/signing/canonical";
import { type DescMessage, fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { finish, hex, readBoth, refusedByUsAlone } from "../binary/read-both.ts";
import { wholeCard } from "../support/cards.ts";
import { applyDamage, damage } from "./damage.ts";
import { editJson, jsonEdit } from "./json-edits.ts";
import { editProtobuf, protobufEdit } from "./protobuf-edits.ts";
import { requests } from "./recorded.ts";
import { fuzz } from "./runs.ts";

const sliceLength = 64 * 1024;
const limits = { maxDepth: 50, maxValues: 10_000 };

const request = fc.constantFrom(...requests);

/** JSON of a request after changes that leave it JSON, or nearly so. */
const editedJson = fc
  .tuple(request, fc.array(jsonEdit, { minLength: 1, maxLength: 4 }))
  .map(([{ method, json }, edits]) => ({ desc: method.desc.input, text: editJson(json, edits) }));

const formatText = ({ text }: { text: string }) => JSON.stringify(text);
const formatBytes = (bytes: Uint8Array) => JSON.stringify(Buffer.from(bytes).toString("base64"));

describe("readJsonText", () => {
  /** Texts that are damaged now and then, with the index at which a slice ends. */
  const texts = fc
    .tuple(editedJson, fc.array(damage, { maxLength: 2 }), fc.nat({ max: sliceLength - 1 }))
    .map(([{ text }, damages, at]) => {
      const bytes = damages.reduce(applyDamage, Buffer.from(text));
      return { bytes, at: at % (bytes.length + 1) };
    });

  it("reads at once and in slices that end anywhere what JSON.parse reads", async () => {
    await fuzz(
      "readJsonText",
      400,
      texts,
      ({ bytes, at }) => `${formatBytes(bytes)} ${at}`,
      async ({ bytes, at }) => {
        const short = await readJsonText(bytes, limits, async () => {});
        const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
        const [mark, rest] = hasMark ? [bytes.subarray(0, 3), bytes.subarray(3)] : [new Uint8Array(), bytes];
        const filler = Buffer.alloc(sliceLength - Math.min(at, sliceLength), " ");
        const sliced = await readJsonText(Buffer.concat([mark, filler, rest]), limits, async () => {});
        const expected = parseOrUndefined(rest);
        const problems = [short, sliced].map((outcome) => (outcome.ok ? undefined : outcome.problem));
        // Of a text that is no JSON, a member that is there twice and too deep a nesting may be noticed first.
        if (problems.some((problem) => /twice|deeply|too many/.test(problem ?? ""))) {
          expect(short.ok || sliced.ok).toBe(false);
        } else {
          for (const outcome of [short, sliced]) {
            expect(outcome.ok ? { json: outcome.value } : undefined).toEqual(expected);
          }
        }
      },
    );
  });

  function parseOrUndefined(bytes: Uint8Array): { json: unknown } | undefined {
    try {
      return { json: JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)) };
    } catch {
      return undefined;
    }
  }
});

describe("parseMessage", () => {
  it("makes of what it takes the message that protobuf-es makes, and names what it refuses", async () => {
    let taken = 0;
    await fuzz("parseMessage", 800, editedJson, formatText, ({ desc, text }) => {
      let json: JsonValue;
      try {
        json = JSON.parse(text);
      } catch {
        return; // readJsonText is for it
      }
      const wrong = findWrongFields(desc, json);
      let bytes: Uint8Array;
      try {
        bytes = toBinary<DescMessage>(desc, parseMessage<DescMessage>(desc, json));
      } catch (error) {
        expect(error).toBeInstanceOf(ConnectError);
        expect(error).toMatchObject({ code: Code.InvalidArgument });
        expect(wrong).not.toEqual([]);
        return;
      }
      expect(wrong).toEqual([]);
      const theirs = fromJsonOrUndefined(desc, json);
      if (theirs !== undefined) {
        taken += 1;
        expect(hex(bytes)).toBe(hex(theirs));
      }
    });
    expect(taken).toBeGreaterThan(0);
  });

  function fromJsonOrUndefined(desc: DescMessage, json: JsonValue): Uint8Array | undefined {
    try {
      return toBinary(desc, fromJson(desc, json, { ignoreUnknownFields: true }));
    } catch {
      return undefined;
    }
  }
});

describe("decodeMessage", () => {
  const messages = fc
    .tuple(request, fc.array(protobufEdit, { minLength: 1, maxLength: 4 }))
    .map(([{ method, json }, edits]) => {
      const desc: DescMessage = method.desc.input;
      return { desc, bytes: editProtobuf(desc, toBinary(desc, fromJson(desc, json)), edits) };
    });
  const format = ({ desc, bytes }: { desc: DescMessage; bytes: Uint8Array }) =>
    `${desc.name} ${formatBytes(bytes)}`;

  it("reads whole and in steps what protobuf-es reads in fields that do not belong there", async () => {
    await fuzz("decodeMessage", 500, messages, format, ({ desc, bytes }) => {
      const { ours, theirs } = readBoth(desc, bytes);
      if (ours !== theirs) expect(ours).toMatch(theirs === "refused" ? /^refused: / : refusedByUsAlone);
    });
  });

  const limited = fc.tuple(
    messages,
    fc.nat({ max: 30 }),
    fc.nat({ max: 60 }),
    fc.integer({ min: 1, max: 40 }),
  );
  it("refuses within limits the same, whole and in steps", async () => {
    await fuzz(
      "decodeMessage with limits",
      400,
      limited,
      ([message, ...numbers]) => `${format(message)} ${numbers}`,
      ([{ desc, bytes }, maxDepth, maxValues, sliceBytes]) => {
        for (const unknownFields of ["drop", "keep"] as const) {
          const options: DecodeOptions = { maxDepth, maxValues, unknownFields };
          const whole = outcomeOf(desc, () => decodeMessage(desc, bytes, options));
          const steps = outcomeOf(desc, () => finish(decodeInSteps(desc, bytes, options, sliceBytes)));
          expect(steps).toBe(whole);
        }
      },
    );
  });

  function outcomeOf(desc: DescMessage, read: () => Parameters<typeof toBinary>[1]): string {
    try {
      return hex(toBinary(desc, read()));
    } catch (error) {
      expect(error).toBeInstanceOf(DecodeError);
      return "refused";
    }
  }
});

describe("the text of a card", () => {
  const cards = fc
    .tuple(fc.array(jsonEdit, { minLength: 1, maxLength: 4 }), fc.array(damage, { maxLength: 2 }))
    .map(([edits, damages]) => {
      const bytes = damages.reduce(applyDamage, Buffer.from(editJson(wholeCard, edits)));
      return { text: new TextDecoder().decode(bytes) };
    });

  it("has one canonical form, which is its own, or a fault", async () => {
    await fuzz("canonicalCard", 400, cards, formatText, ({ text }) => {
      let canonical: string;
      try {
        canonical = canonicalCard(text);
      } catch (error) {
        expect(error).toBeInstanceOf(CardTextError);
        return;
      }
      expect(canonicalCard(canonical)).toBe(canonical);
      expect(canonicalCard(JSON.stringify(JSON.parse(text)))).toBe(canonical);
    });
  });

  it("is a card, or an error that names what is wrong", async () => {
    await fuzz("readCard", 500, cards, formatText, async ({ text }) => {
      try {
        expect((await readCard(text)).card.supportedInterfaces).not.toEqual([]);
      } catch (error) {
        if (!(error instanceof CardInvalidError)) throw error;
        expect(error.problems).not.toEqual([]);
      }
    });
  });
});
