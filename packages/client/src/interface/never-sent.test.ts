import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { closedAddress } from "../../test-support/http-server.ts";
import { findNetworkFailure } from "./network-failure.ts";
import { wasNeverSent } from "./never-sent.ts";

const failed = (code: string, members: object = {}) =>
  Object.assign(new Error("failed"), { code, ...members });
const unavailable = (cause: unknown) =>
  new ConnectError("not reached", Code.Unavailable, undefined, undefined, cause);
const aggregate = (...errors: unknown[]) => new AggregateError(errors);

describe("a failed request", () => {
  for (const [what, error, neverSent] of [
    ["nobody listens", failed("ECONNREFUSED"), true],
    ["no such host", failed("ENOTFOUND", { syscall: "getaddrinfo" }), true],
    ["a slow handshake", failed("UND_ERR_CONNECT_TIMEOUT"), true],
    ["a guard", failed("ERR_ADDRESS_REFUSED"), true],
    ["a self-signed certificate", failed("DEPTH_ZERO_SELF_SIGNED_CERT"), true],
    ["an expired certificate", failed("CERT_HAS_EXPIRED"), true],
    ["another certificate", failed("UNABLE_TO_GET_ISSUER_CERT_LOCALLY"), true],
    ["a certificate for another name", failed("ERR_TLS_CERT_ALTNAME_INVALID"), true],
    ["no TLS", failed("ERR_SSL_WRONG_VERSION_NUMBER"), true],
    ["no route when connecting", failed("EHOSTUNREACH", { syscall: "connect" }), true],
    ["no route any more", failed("EHOSTUNREACH", { syscall: "read" }), false],
    ["a connection that timed out", failed("ETIMEDOUT", { syscall: "read" }), false],
    ["connecting that timed out", failed("ETIMEDOUT", { syscall: "connect" }), true],
    ["a reset", failed("ECONNRESET"), false],
    ["a socket that was closed", failed("UND_ERR_SOCKET"), false],
    ["a bad record", failed("ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC"), false],
    ["a browser's silence", new TypeError("Failed to fetch"), false],
    ["a server's answer", new ConnectError("busy", Code.Unavailable), false],
    [
      "something deep inside",
      unavailable(new TypeError("fetch failed", { cause: failed("ECONNREFUSED") })),
      true,
    ],
    ["all addresses of a host", unavailable(aggregate(failed("ECONNREFUSED"), failed("ECONNREFUSED"))), true],
    ["one of several attempts", unavailable(aggregate(failed("ECONNREFUSED"), failed("ECONNRESET"))), false],
    ["no error", "ECONNREFUSED", false],
    ["nothing", undefined, false],
  ] as const) {
    it(`${neverSent ? "was never sent" : "may have been sent"}: ${what}`, () => {
      expect(wasNeverSent(error)).toBe(neverSent);
    });
  }

  it("does not lead around in circles", () => {
    const error = new Error("around");
    error.cause = error;
    expect(wasNeverSent(error)).toBe(false);
    expect(findNetworkFailure(error)).toBeUndefined();
  });
});

describe("why nothing was reached", () => {
  for (const [error, says] of [
    [failed("ENOTFOUND"), /name that cannot be resolved/],
    [failed("EAI_AGAIN"), /looked up just now/],
    [failed("ECONNREFUSED"), /nothing listens/],
    [failed("CERT_HAS_EXPIRED"), /expired/],
    [failed("DEPTH_ZERO_SELF_SIGNED_CERT"), /self-signed/],
    [failed("ERR_TLS_CERT_ALTNAME_INVALID"), /another name/],
    [failed("CERT_REVOKED"), /certificate that is not accepted/],
    [failed("ERR_SSL_WRONG_VERSION_NUMBER"), /TLS/],
    [failed("EPROTO", { message: "write EPROTO ssl3_get_record" }), /TLS/],
    [failed("UND_ERR_CONNECT_TIMEOUT"), /in time/],
    [failed("ECONNRESET"), /closed the connection/],
    [failed("ERR_ADDRESS_REFUSED"), /not public/],
    [new TypeError("Failed to fetch"), /could not be reached/],
    [unavailable(new TypeError("fetch failed", { cause: failed("ENOTFOUND") })), /cannot be resolved/],
    [unavailable(aggregate(failed("ECONNREFUSED"))), /nothing listens/],
  ] as const) {
    it(`is said in words: ${says.source}`, () => {
      const failure = findNetworkFailure(error);
      expect(failure?.reason).toMatch(says);
      expect(failure?.hint).toMatch(/\S+ \S+ \S+/);
    });
  }

  it("is nothing for a server's answer", () => {
    expect(findNetworkFailure(new ConnectError("busy", Code.Unavailable))).toBeUndefined();
  });

  it("is known of this platform's own fetch", async () => {
    const error: unknown = await fetch(await closedAddress()).catch((thrown: unknown) => thrown);
    expect(findNetworkFailure(error)?.reason).toMatch(/nothing listens/);
    expect(wasNeverSent(error)).toBe(true);
  });
});
