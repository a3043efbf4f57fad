import { a2aError } from "@a2a-connect/core";
import type { ConnectError } from "@connectrpc/connect";
import type { Challenge } from "./gate.ts";

/** A refused call: its code and reason on every wire, and what `WWW-Authenticate` says. */
export function unauthenticated(message: string, challenges: readonly Challenge[]): ConnectError {
  const error = a2aError("UNAUTHENTICATED", message);
  error.metadata.set("www-authenticate", challenges.map(formatChallenge).join(", "));
  return error;
}

/** The caller is known, and lacks scopes that the call needs (RFC 6750 §3.1). */
export function insufficientScope(scopes: readonly string[]): ConnectError {
  const scope = scopes.join(" ");
  const error = a2aError("PERMISSION_DENIED", `the credentials lack the scope ${scope}`, { scope });
  error.metadata.set(
    "www-authenticate",
    formatChallenge({ scheme: "Bearer", params: { error: "insufficient_scope", scope } }),
  );
  return error;
}

function formatChallenge({ scheme, params = {} }: Challenge): string {
  const list = Object.entries(params).map(([name, value]) => `${name}="${quotable(value)}"`);
  return list.length === 0 ? scheme : `${scheme} ${list.join(", ")}`;
}

/** The text of a quoted string: printable ASCII alone, so that it can neither end the string nor the header. */
function quotable(text: string): string {
  return text.replaceAll(/[^ -~]/g, "?").replaceAll(/["\\]/g, "\\$&");
}
