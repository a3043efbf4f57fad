import { text } from "@a2a-connect/core";
import type { Part } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";

/**
 * What a task was granted outside of its messages, such as by the callback of a sign-in (`AgentServer.grant`, spec §7.6).
 * It is stored with the task, so it names a credential and does not contain it. Callers never see it.
 */
export interface Grant {
  /** Where the agent finds the credential, such as the key of an entry in its vault. At most 2,048 characters. */
  readonly reference: string;
  /** What the credential allows, in the words of the service that gave it. Default: none. At most 100. */
  readonly scopes?: readonly string[];
  /** When it ends, in milliseconds since 1970. Default: the agent learns that when it uses the credential. */
  readonly expiresAt?: number;
}

/** What the caller's program should know about the credentials that are asked for. */
export interface AuthHint {
  /** The kind of credential, such as the name of a security scheme. */
  readonly scheme?: string;
  /** Where to sign in. It is added to the text, unless the text has it. */
  readonly url?: string;
}

/** The hints as a member of the question's data; nothing without them. */
export function authMember({ scheme, url }: AuthHint): JsonObject {
  const auth = { ...(scheme === undefined ? {} : { scheme }), ...(url === undefined ? {} : { url }) };
  return Object.keys(auth).length === 0 ? {} : { auth };
}

/** An explanation with the link that it needs. */
export function withLink(explanation: readonly Part[], { url }: AuthHint): readonly Part[] {
  const isNeeded =
    url !== undefined &&
    !explanation.some(({ content }) => content.case === "text" && content.value.includes(url));
  return isNeeded ? [...explanation, text(`\n${url}`)] : explanation;
}

const maxReferenceLength = 2_048;
const maxScopes = 100;
const maxScopeLength = 256;

/** A copy of a grant. @throws TypeError that names the member which has no or no valid value */
export function copyGrant({ reference, scopes = [], expiresAt }: Grant): Grant {
  if (typeof reference !== "string" || reference === "" || reference.length > maxReferenceLength) {
    throw new TypeError(`grant.reference must be a text of 1 to ${maxReferenceLength} characters`);
  }
  const areScopes = Array.isArray(scopes) && scopes.length <= maxScopes && scopes.every(isScope);
  if (!areScopes) {
    throw new TypeError(
      `grant.scopes must be a list of at most ${maxScopes} texts of 1 to ${maxScopeLength} characters`,
    );
  }
  if (expiresAt !== undefined && !Number.isFinite(expiresAt)) {
    throw new TypeError("grant.expiresAt must be a number of milliseconds since 1970");
  }
  return { reference, scopes: [...scopes], ...(expiresAt === undefined ? {} : { expiresAt }) };
}

function isScope(scope: unknown): boolean {
  return typeof scope === "string" && scope !== "" && scope.length <= maxScopeLength;
}
