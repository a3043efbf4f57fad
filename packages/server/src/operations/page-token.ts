import { invalidParams } from "@a2a-connect/core";
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";

/** Longer than any token: three ids of 512 characters, each of which may take six bytes in JSON. */
const maxTokenLength = 16 * 1024;

/**
 * An opaque page token: where the next page begins, with its caller and filters, so that a token of another caller or
 * for another list is refused (requirement A-48). It contains only what its caller knows.
 */
export function formatPageToken(
  position: readonly (string | number)[],
  scope: readonly (string | number)[],
): string {
  return base64Encode(new TextEncoder().encode(JSON.stringify([scope, ...position])), "url");
}

/**
 * The position in a token that `formatPageToken` made for the same scope.
 *
 * @throws ConnectError InvalidArgument naming `pageToken` for any other text
 */
export function parsePageToken(token: string, scope: readonly (string | number)[]): readonly unknown[] {
  const content = decode(token);
  const [bound, ...position] = Array.isArray(content) ? (content as unknown[]) : []; // an array of anything
  if (!isScope(bound, scope)) {
    throw invalidParams({
      field: "pageToken",
      description:
        "was not made for this list: send the nextPageToken of the page before, with the same filters",
    });
  }
  return position;
}

/** Not by `JSON.stringify`, which throws for a token of deeply nested arrays. */
function isScope(bound: unknown, scope: readonly (string | number)[]): boolean {
  return (
    Array.isArray(bound) && bound.length === scope.length && scope.every((value, at) => bound[at] === value)
  );
}

function decode(token: string): unknown {
  if (token.length > maxTokenLength) {
    return undefined; // it may be as long as a request, and JSON.parse would block other calls for seconds
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(base64Decode(token)));
  } catch {
    return undefined;
  }
}
