import type { AuthOptions } from "@a2a-connect/auth";
import type { HttpHandler } from "@a2a-connect/bindings";
import { isLoopbackHost } from "@a2a-connect/core/internal";

/** What an operator has to say before a server is open to the network. */
export interface ExposureOptions {
  /**
   * Whether everyone who can reach the server may call it, when it listens beyond this machine and has no gate (`auth`). Without
   * this it does not start. An interceptor of your own that checks credentials needs it, too. Default false.
   */
  readonly open?: boolean;
  /**
   * Whether credentials may come in cleartext, when the server listens beyond this machine: a proxy in front of it has the TLS. Without
   * this, and without `tls`, it does not start. Default false.
   */
  readonly cleartext?: boolean;
}

/** Where a server listens, and what protects it there. */
interface Exposure extends ExposureOptions {
  readonly host?: string;
  readonly tls?: object;
  /** The gates of each agent. */
  readonly auths: readonly (AuthOptions | undefined)[];
}

/**
 * No server is open to the network by accident.
 *
 * @throws Error that says what to add
 */
export function assertExposure({ host = "localhost", tls, open, cleartext, auths }: Exposure): void {
  if (isOwnMachine(host)) {
    return;
  }
  if (open !== true && auths.includes(undefined)) {
    throw new Error(
      `the server would listen on ${host}, and demand no credentials from callers: add a gate, such as auth: { gates: { key: apiKey({ header: "X-Key", keys }) } } (docs/authentication.md), or say that everyone may call it: open: true (--open)`,
    );
  }
  if (cleartext !== true && tls === undefined && auths.some((auth) => auth !== undefined)) {
    throw new Error(
      `the server would listen on ${host} without TLS, and credentials would come in cleartext: set tls, or say that a proxy in front of it has the TLS: cleartext: true (--cleartext)`,
    );
  }
}

/** Whether only this machine reaches what is bound there. A name that has to be looked up may be any. */
export function isOwnMachine(host: string): boolean {
  return isLoopbackHost(host.includes(":") ? `[${host}]` : host);
}

/** A year, as browsers want it (RFC 6797). Hosts below are other servers, and not ours to decide on. */
const strictTransport = "max-age=31536000";

/** Tells browsers to come by TLS alone. Not for this machine's own names, which other servers on it share. */
export function withStrictTransport(handle: HttpHandler): HttpHandler {
  return async (request) => {
    const response = await handle(request);
    const header = response.header ?? new Headers();
    header.set("strict-transport-security", strictTransport);
    return { ...response, header };
  };
}
