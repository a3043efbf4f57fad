import { findFieldViolations } from "@a2a-connect/core";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { expect, it } from "vitest";
import { formatPageToken, parsePageToken } from "./page-token.ts";

const longestId = "\u0001".repeat(512); // six bytes of JSON for each character
const scope = [longestId, "anonymous", longestId, 0, ""];

it("reads the longest token that is made", () => {
  const position = [Number.MAX_SAFE_INTEGER, longestId];
  expect(parsePageToken(formatPageToken(position, scope), scope)).toEqual(position);
});

it("does not parse a token that is longer than any that is made", () => {
  const long = formatPageToken(
    Array.from({ length: 100_000 }, () => 0),
    scope,
  );
  expect(violationsOf(() => parsePageToken(long, scope))).toMatchObject([{ field: "pageToken" }]);
});

it("refuses a token of arrays in arrays", () => {
  const deep = base64Encode(new TextEncoder().encode(`${"[".repeat(6_000)}${"]".repeat(6_000)}`), "url");
  expect(violationsOf(() => parsePageToken(deep, scope))).toMatchObject([{ field: "pageToken" }]);
});

function violationsOf(call: () => unknown): readonly unknown[] {
  try {
    call();
  } catch (error) {
    return findFieldViolations(error);
  }
  return [];
}
