import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { connect, isIP } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { chunksOf, isLoopbackHost, readAtMost, untilAborted } from "@a2a-connect/core/internal";
import { createGuardedFetch } from "@a2a-connect/node";
import { maxCardBytes } from "../agent/reference.ts";
import { codeOf } from "../cli-error.ts";
import { formatDuration } from "../settings/values.ts";
import { type Finding, type FindingId, find, idsByCode } from "./findings.ts";

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
  const known = idsByCode.get(code);
  if (known !== undefined) return known;
  if (code !== undefined && /^(ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_)/.test(code)) return "tls.failed";
  return isTimeout(error) ? "network.timeout" : "network.closed";
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === "TimeoutError" || isTimeout(error.cause));
}

export interface Answer {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  /** Undefined when it is longer than a card may be. */
  readonly text: string | undefined;
  readonly ms: number;
}

/** An answer, or why there is none. */
export type Asked =
  | { readonly answer: Answer; readonly failure?: undefined }
  | { readonly answer?: undefined; readonly failure: Finding };

/** Asks once, and follows no redirect. @throws the signal's reason */
export async function ask(
  url: string,
  { fetch, timeoutMs, signal }: AskOptions,
  init: RequestInit = {},
): Promise<Asked> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const startedAt = performance.now();
  try {
    const { status, headers, body } = await fetch(url, { ...init, redirect: "manual", signal: limit });
    const bytes = await readAtMost(chunksOf(body), maxCardBytes);
    const text = bytes && new TextDecoder().decode(bytes);
    return { answer: { url, status, headers, text, ms: Math.round(performance.now() - startedAt) } };
  } catch (error) {
    signal.throwIfAborted();
    const late = `${url}: nothing came within ${formatDuration(timeoutMs)}`;
    return { failure: limit.aborted ? find("network.timeout", late) : findFailure(error, url) };
  }
}
