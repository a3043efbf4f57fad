import { lookup } from "node:dns/promises";
import { connect, isIP } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { createGuardedFetch } from "@a2a-connect/node";
import type { Finding } from "../finding.ts";
import { explainNetworkFailure } from "../network-failure.ts";
import { isLocalHost } from "../target.ts";

/** How far the network let us, and what there is to say about it. */
export interface NetworkReport {
  readonly findings: readonly Finding[];
  /** Whether it makes sense to go on. */
  readonly reachable: boolean;
}

/** How a server is tried. */
export interface NetworkProbeOptions {
  readonly timeoutMs: number;
  /** Goes on after a certificate that is not trusted; it stays a problem. */
  readonly insecure: boolean;
  readonly signal: AbortSignal;
}

/** Days before a certificate's end from which it is worth a warning. */
const renewBeforeDays = 21;

/** Name, connection and certificate of a URL's server, by a connection of its own. Never rejects but for `signal`. */
export async function probeNetwork(
  url: URL,
  { timeoutMs, insecure, signal }: NetworkProbeOptions,
): Promise<NetworkReport> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  const findings: Finding[] = [];
  try {
    const addresses = (await abortable(lookup(host, { all: true }), limit)).map(({ address }) => address);
    findings.push({
      id: "network.name",
      severity: "ok",
      what: `${host} is known.`,
      evidence: addresses.join(", "),
    });
    const transport = judgeTransport(url, addresses);
    if (transport !== undefined) findings.push(transport);
    findings.push(
      await (url.protocol === "https:" ? probeTls(host, port, insecure, limit) : probeTcp(host, port, limit)),
    );
    return { findings, reachable: true };
  } catch (error) {
    signal.throwIfAborted();
    const failure = explainNetworkFailure(error);
    findings.push({
      id: `network.${failure.stage === "answer" ? "connect" : failure.stage}`,
      severity: "problem",
      what: `The server at ${host}:${port} ${failure.what}.`,
      fix: failure.fix,
      ...(failure.code === undefined ? {} : { evidence: failure.code }),
    });
    return { findings, reachable: false };
  }
}

/**
 * Cleartext is for this machine and for networks of one's own (requirement J-2: https in production).
 *
 * @param addresses what the host's name has led to
 */
export function judgeTransport(url: URL, addresses: readonly string[]): Finding | undefined {
  if (url.protocol === "https:" || isLocalHost(url.hostname) || !addresses.some(isPublic)) return undefined;
  return {
    id: "network.cleartext",
    severity: "problem",
    what: `${url.hostname} is public and is called without TLS: anybody on the way reads and changes everything.`,
    evidence: url.origin,
    fix: "Serve https, and put https URLs into the card.",
  };
}

function isPublic(address: string): boolean {
  const host = address.includes(":") ? `[${address}]` : address;
  return guard.refuseUrl(`http://${host}/`) === undefined;
}

/** Only asked what it thinks of an address; nothing is sent with it. */
const guard = createGuardedFetch({ allowHttp: true });

async function probeTcp(host: string, port: number, signal: AbortSignal): Promise<Finding> {
  const startedAt = performance.now();
  const socket = connect({ host, port });
  try {
    await once(socket, "connect", signal);
    return {
      id: "network.connect",
      severity: "ok",
      what: `Port ${port} takes connections.`,
      evidence: `${Math.round(performance.now() - startedAt)} ms`,
    };
  } finally {
    socket.destroy();
  }
}

async function probeTls(
  host: string,
  port: number,
  insecure: boolean,
  signal: AbortSignal,
): Promise<Finding> {
  const socket = connectTls({
    host,
    port,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ["h2", "http/1.1"],
    rejectUnauthorized: !insecure,
  });
  try {
    await once(socket, "secureConnect", signal);
    return socket.authorized ? judgeCertificate(socket) : judgeDistrust(socket);
  } finally {
    socket.destroy();
  }
}

function judgeDistrust({ authorizationError }: TLSSocket): Finding {
  const { what, fix, code } = explainNetworkFailure(authorizationError);
  return {
    id: "network.tls",
    severity: "problem",
    what: `The server ${what}; --insecure goes on all the same.`,
    fix,
    ...(code === undefined ? {} : { evidence: code }),
  };
}

function judgeCertificate(socket: TLSSocket): Finding {
  const { valid_to: validTo } = socket.getPeerCertificate();
  const days = Math.floor((Date.parse(validTo) - Date.now()) / 86_400_000);
  const evidence = `${socket.getProtocol() ?? "TLS"}, certificate until ${validTo}`;
  return days < renewBeforeDays
    ? {
        id: "network.tls",
        severity: "warning",
        what: `The certificate ends in ${days} days.`,
        evidence,
        fix: "Renew it now, and automatically from now on.",
      }
    : { id: "network.tls", severity: "ok", what: "TLS works, and the certificate is trusted.", evidence };
}

function once(
  socket: { once(event: string, listener: (value: unknown) => void): unknown },
  event: string,
  signal: AbortSignal,
): Promise<void> {
  const happened = new Promise<void>((resolve, reject) => {
    socket.once(event, () => resolve());
    socket.once("error", reject);
  });
  return abortable(happened, signal);
}

/** Name look-ups and sockets know no signal: they are left behind. */
function abortable<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
