import type { JsonObject } from "@bufbuild/protobuf";
import { type ContextKey, createContextKey } from "@connectrpc/connect";
import { protocolVersion } from "./service-parameters.ts";

/** The caller's identity. It comes from the connection, never from a message (requirement O-2). */
export interface Principal {
  /** Stable and unique among all callers. The store keeps tasks under it. */
  readonly id: string;
  /** Whether the caller gave no credentials. */
  readonly anonymous: boolean;
  /** The tenant that its credentials are for. Undefined: they do not say, and the request may name any. */
  readonly tenant?: string | undefined;
  /** The scopes of its credentials. Default none. */
  readonly scopes?: readonly string[];
  /** Verified claims of its credentials that agents may see. Default none. */
  readonly claims?: JsonObject;
}

/** The caller without credentials. */
export const anonymousPrincipal: Principal = { id: "anonymous", anonymous: true };

/** The caller's identity; anonymous by default. */
export const principalKey: ContextKey<Principal> = createContextKey(anonymousPrincipal, {
  description: "a2a principal",
});

/** Where the caller reaches this server. Finding it may cost time. */
export interface ForwardedUrlSource {
  /**
   * The base URL that a trusted proxy told, without a trailing slash and with the path prefix that the proxy removes. Undefined
   * when no proxy is trusted, or none told one.
   */
  readonly forwardedUrl?: string | undefined;
  /** Where the server is mounted in another one. Undefined: it has a port of its own. */
  readonly mount?: MountPoint | undefined;
}

/** The place of a server inside another one. */
export interface MountPoint {
  /** Scheme and authority of the other server, as the caller's request names them. */
  readonly origin: string;
  /** The path below which it answers, such as `/a2a`; empty: all paths. No trailing slash. */
  readonly path: string;
}

/** The certificate with which the other end of a connection has identified itself. */
export interface ClientCertificate {
  /** The subject as `CN=worker,O=Acme`: most specific name first (RFC 4514). */
  readonly subject: string;
  /** Subject alternative names. */
  readonly dnsNames: readonly string[];
  readonly uris: readonly string[];
  readonly emails: readonly string[];
  /** SHA-256 of the certificate in hex, without colons. */
  readonly fingerprint: string;
  /** When it expires (milliseconds since 1970). */
  readonly expiresAt: number;
}

/**
 * What the runtime of a call (on our Node port: `NodeRequest`) knows of its caller, and lets its answer do. Each member is optional,
 * because some runtimes and tests have no connection.
 */
export interface CallRuntime extends ForwardedUrlSource {
  /**
   * The caller's address: IPv4 address, or IPv6 network of 64 bits (`2001:db8:1:2::/64`); that of the connection, or the one that
   * a trusted proxy told. Undefined: not known. It tells callers without credentials apart. Finding it may cost time.
   */
  readonly callerNetwork?: string | undefined;
  /**
   * How often a header field was sent, before a runtime joined the values or dropped all but one. Without this, each field
   * that is there counts once.
   */
  countFields?(name: string): number;
  /** The client certificate of the connection, if there is one whose chain the server has tested. */
  readonly clientCertificate?: ClientCertificate | undefined;
  /**
   * Resolves when the answer may be made, or when the call may go on after a gate that had to wait; undefined: at once. Defined if
   * the server lets few calls do so in a turn of the event loop: thousands may wait for the same event.
   */
  turnToGoOn?(): Promise<void> | undefined;
  /**
   * Counts about so many bytes more that the answer keeps in memory until it is sent; a negative number takes them back, and so
   * does the end of the call. Defined if the server limits the memory of unread answers.
   *
   * @throws ConnectError ResourceExhausted, reason CAPACITY, when all answers together exceed the limit
   */
  countUnread?(bytes: number): void;
}

/** The runtime of a call; nothing is known by default. */
export const runtimeKey: ContextKey<CallRuntime> = createContextKey<CallRuntime>(
  {},
  { description: "a2a runtime" },
);

/** Whether an answer is read in the call itself and never sent: it is not counted as unread (`countUnread`). False by default. */
export const unsentKey: ContextKey<boolean> = createContextKey<boolean>(false, {
  description: "a2a answer that is not sent",
});

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
