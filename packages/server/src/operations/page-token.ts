import { invalidParams } from "@a2a-connect/core";
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";

/**
 * An opaque page token: where the next page begins, bound to the caller and the filters it was made for, so that a
 * token of somebody else or for another list is refused (requirement A-48).
 */
export async function formatPageToken(
  position: readonly (string | number)[],
  scope: readonly unknown[],
): Promise<string> {
  const text = JSON.stringify([await digest(scope), ...position]);
  return base64Encode(new TextEncoder().encode(text), "url");
}

/**
 * The position in a token that `formatPageToken` made for the same scope.
 *
 * @throws ConnectError InvalidArgument naming `pageToken` for any other text
 */
export async function parsePageToken(token: string, scope: readonly unknown[]): Promise<readonly unknown[]> {
  const content = decode(token);
  const [bound, ...position] = Array.isArray(content) ? (content as unknown[]) : []; // isArray says any[]
  if (bound !== (await digest(scope))) {
    throw invalidParams({
      field: "pageToken",
      description:
        "was not made for this list: send the nextPageToken of the page before, with the same filters",
    });
  }
  return position;
}

function decode(token: string): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(base64Decode(token)));
  } catch {
    return undefined;
  }
}

async function digest(scope: readonly unknown[]): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(scope));
  return base64Encode(new Uint8Array(await crypto.subtle.digest("SHA-256", text)).subarray(0, 12), "url");
}
