import { webTransports } from "@a2a-connect/client/internal";
import { AgentCardSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { createCallHeaders } from "../../agent/call-credentials.ts";
import { probeInterfaces } from "./interfaces.ts";
import { judgeTransport } from "./network.ts";

for (const [url, addresses, isTold] of [
  ["http://agents.example.org", ["93.184.215.14"], true],
  ["http://agents.example.org", ["2606:2800:21f:cb07::1"], true],
  ["https://agents.example.org", ["93.184.215.14"], false],
  ["http://agents.internal", ["10.1.2.3", "fd00::1"], false],
  ["http://localhost:4000", ["127.0.0.1"], false],
  ["http://[::1]:4000", ["::1"], false],
] as const) {
  it(`${isTold ? "warns of" : "lets be"} ${url} at ${addresses.join(" and ")}`, () => {
    expect(judgeTransport(new URL(url), addresses)?.id).toBe(isTold ? "network.cleartext" : undefined);
  });
}

for (const [cardUrl, url, what] of [
  ["https://agents.example.org", "http://localhost:61/rpc", "The card sends callers to their own machine."],
  [
    "https://agents.example.org",
    "http://agents.invalid/rpc",
    "The card comes over TLS and sends callers to where there is none.",
  ],
  ["http://localhost:4000", "http://localhost:61/rpc", undefined],
] as const) {
  it(`judges ${url} in the card of ${cardUrl}`, async () => {
    const card = create(AgentCardSchema, {
      supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    });
    const { findings } = await probeInterfaces(card, new URL(cardUrl), {
      transports: webTransports,
      // Nobody is called: it is only about the address.
      fetch: async () => Promise.reject(new Error("no network here")),
      credentials: () => createCallHeaders({}),
      timeoutMs: 1_000,
      signal: new AbortController().signal,
    });
    expect(findings.filter(({ id }) => id === "interface.url").map((finding) => finding.what)).toEqual(
      what === undefined ? [] : [what],
    );
  });
}
