import { invalidParams } from "@a2a-connect/core";
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";

/** More than the longest that is made: three ids of 4,096 characters, of which JSON may take six bytes each. */
const maxTokenLength = 128 * 1024;

/**
 * An opaque page token: where the next page begins, with the caller and the filters it was made for, so that a token of
 * somebody else or for another list is refused (requirement A-48). It holds nothing that its caller does not know.
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
  if (JSON.stringify(bound) !== JSON.stringify(scope)) {
    throw invalidParams({
      field: "pageToken",
      description:
        "was not made for this list: send the nextPageToken of the page before, with the same filters",
    });
  }
  return position;
}

function decode(token: string): unknown {
  if (token.length > maxTokenLength) {
    return undefined; // it may be as long as a request, and JSON.parse would keep others waiting for seconds
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(base64Decode(token)));
  } catch {
    return undefined;
  }
}
