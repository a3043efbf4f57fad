import { type ContextKey, createContextKey } from "@connectrpc/connect";
import { protocolVersion } from "./service-parameters.ts";

/** Who calls. Identity comes from the connection, never from a message (requirement O-2). */
export interface Principal {
  /** Stable and unique among all callers; tasks are kept by it. */
  readonly id: string;
  /** Whether the caller gave no credentials. */
  readonly anonymous: boolean;
}

/** The caller without credentials. */
export const anonymousPrincipal: Principal = { id: "anonymous", anonymous: true };

/** Who calls; anonymous by default. */
export const principalKey: ContextKey<Principal> = createContextKey(anonymousPrincipal, {
  description: "a2a principal",
});

/** Knows where the caller reaches this server; finding it out may cost something. */
export interface ForwardedUrlSource {
  /** As a trusted proxy says: base URL without a trailing slash. Undefined: nobody trustworthy said. */
  readonly forwardedUrl?: string | undefined;
}

/** Where the caller reaches this server; by default nobody has said. */
export const forwardedUrlKey: ContextKey<ForwardedUrlSource> = createContextKey<ForwardedUrlSource>(
  {},
  { description: "a2a forwarded URL" },
);

/** Knows where a caller is; finding it out may cost something. */
export interface CallerSource {
  /**
   * IPv4 address, or IPv6 network of 64 bits (`2001:db8:1:2::/64`): of the connection, or as a trusted proxy says. Undefined
   * where calls do not come over a network.
   */
  readonly callerNetwork?: string | undefined;
}

/** Where the caller is; by default not known. */
export const callerKey: ContextKey<CallerSource> = createContextKey<CallerSource>(
  {},
  { description: "a2a caller" },
);

/** Counts what the answer to a call keeps in memory until its reader has taken it. */
export interface AnswerBudget {
  /**
   * About so many bytes more, until the call is over or they are taken back by a negative number. Small answers are not
   * counted.
   *
   * @throws ConnectError ResourceExhausted when all answers of the process together are over their limit
   */
  hold?(bytes: number): void;
}

/** What the answer to the call may keep in memory; by default it is not counted. */
export const answerBudgetKey: ContextKey<AnswerBudget> = createContextKey<AnswerBudget>(
  {},
  { description: "a2a answer budget" },
);

/** The tenant of the call, `""` for none (requirements P). */
export const tenantKey: ContextKey<string> = createContextKey("", { description: "a2a tenant" });

/** URIs of the extensions that are active in this call: asked for and supported (requirements G); none by default. */
export const extensionsKey: ContextKey<readonly string[]> = createContextKey<readonly string[]>([], {
  description: "a2a extensions",
});

/** The protocol version of the call as `Major.Minor` (requirements F). */
export const protocolVersionKey: ContextKey<string> = createContextKey(protocolVersion, {
  description: "a2a protocol version",
});
