import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { connect, isIP } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { chunksOf, isLoopbackHost, untilAborted } from "@a2a-connect/core/internal";
import { createGuardedFetch } from "@a2a-connect/node";
import { codeOf } from "../cli-error.ts";
import { type Finding, type FindingId, find } from "./findings.ts";

export interface AskOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutMs: number;
  /** Whether to go on with servers whose certificate is not trusted. */
  readonly insecure: boolean;
  readonly signal: AbortSignal;
}

/** Days before a certificate's end from which it is worth a warning. */
const renewBeforeDays = 21;

/** Name, connection and certificate of a URL's server. @returns as the last one, a problem when it cannot be reached at all */
export async function findNetwork(url: URL, { timeoutMs, insecure, signal }: AskOptions): Promise<Finding[]> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  const address = `${url.hostname}:${port}`;
  try {
    const addresses = (await untilAborted(lookup(host, { all: true }), limit)).map((each) => each.address);
    const cleartext = isCleartext(url, addresses) ? [find("network.cleartext", url.origin)] : [];
    const socket =
      url.protocol === "https:"
        ? connectTls({
            ...{ host, port, ALPNProtocols: ["h2", "http/1.1"], rejectUnauthorized: !insecure },
            ...(isIP(host) === 0 ? { servername: host } : {}),
          })
        : connect({ host, port });
    try {
      await once(socket, "encrypted" in socket ? "secureConnect" : "connect", { signal: limit });
      const reached = find("network.reached", `${address} at ${addresses.join(", ")}`);
      return [reached, ...cleartext, ...("encrypted" in socket ? [judgeCertificate(socket)] : [])];
    } finally {
      socket.destroy();
    }
  } catch (error) {
    signal.throwIfAborted();
    return [findFailure(error, address)];
  }
}

/** Cleartext is for this machine and for networks of one's own (O-1: TLS in production). */
export function isCleartext({ protocol, hostname }: URL, addresses: readonly string[]): boolean {
  const isPublic = (address: string): boolean => {
    const host = address.includes(":") ? `[${address}]` : address;
    return guard.refuseUrl(`http://${host}/`) === undefined;
  };
  return protocol !== "https:" && !isLoopbackHost(hostname) && addresses.some(isPublic);
}

/** Only asked what it thinks of an address; nothing is sent with it. */
const guard = createGuardedFetch({ allowHttp: true });

function judgeCertificate(socket: TLSSocket): Finding {
  if (!socket.authorized) return findFailure(socket.authorizationError, "with --insecure, a2a goes on");
  const { valid_to: validTo } = socket.getPeerCertificate();
  const days = Math.floor((Date.parse(validTo) - Date.now()) / 86_400_000);
  const evidence = `${socket.getProtocol() ?? "TLS"}, certificate until ${validTo}`;
  return find(days < renewBeforeDays ? "tls.ends-soon" : "tls.trusted", evidence);
}

/** What is behind a request, a call or a socket that failed, with the system's own word for it. */
export function findFailure(error: unknown, about: string, at?: readonly string[]): Finding {
  const code = codeOf(error);
  return find(idOfFailure(error, code), code === undefined ? about : `${about}: ${code}`, at);
}

function idOfFailure(error: unknown, code: string | undefined): FindingId {
  const known = code === undefined ? undefined : idsByCode[code];
  if (known !== undefined) return known;
  if (code !== undefined && /^(ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_)/.test(code)) return "tls.failed";
  return isTimeout(error) ? "network.timeout" : "network.closed";
}

const idsByCode: Readonly<Record<string, FindingId>> = {
  ENOTFOUND: "network.name",
  EAI_AGAIN: "network.name-servers",
  ECONNREFUSED: "network.refused",
  EHOSTUNREACH: "network.unreachable",
  ENETUNREACH: "network.unreachable",
  ETIMEDOUT: "network.unconnected",
  UND_ERR_CONNECT_TIMEOUT: "network.unconnected",
  CERT_HAS_EXPIRED: "tls.expired",
  CERT_NOT_YET_VALID: "tls.early",
  ERR_TLS_CERT_ALTNAME_INVALID: "tls.other-host",
  DEPTH_ZERO_SELF_SIGNED_CERT: "tls.self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "tls.issuer",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "tls.issuer",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "tls.issuer",
  UNABLE_TO_GET_ISSUER_CERT: "tls.issuer",
  ERR_SSL_WRONG_VERSION_NUMBER: "tls.none",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "tls.none",
  HPE_INVALID_CONSTANT: "network.no-http",
};

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === "TimeoutError" || isTimeout(error.cause));
}

export interface Answer {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** False when the body was cut off at the limit. */
  readonly isWhole: boolean;
  readonly ms: number;
}

/** Bytes of an answer that are read: as many as clients accept of a card. */
const maxBytes = 1024 * 1024;

/** Asks once, and follows no redirect. @throws the signal's reason, and what `fetch` throws (`findFailure`) */
export async function ask(
  url: string,
  { fetch, timeoutMs, signal }: AskOptions,
  init: RequestInit = {},
): Promise<Answer> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const startedAt = performance.now();
  try {
    const { status, headers, body } = await fetch(url, { ...init, redirect: "manual", signal: limit });
    const decoder = new TextDecoder();
    let [text, length] = ["", 0];
    for await (const chunk of chunksOf(body)) {
      length += chunk.byteLength;
      if (length > maxBytes) break;
      text += decoder.decode(chunk, { stream: true });
    }
    const ms = Math.round(performance.now() - startedAt);
    return { url, status, headers, text: text + decoder.decode(), isWhole: length <= maxBytes, ms };
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
