import { apiKey } from "@a2a-connect/auth";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { Agent, fetch } from "undici";
import { describe, expect, it } from "vitest";
import { isOwnMachine } from "./exposure.ts";
import { type ServeOptions, serve } from "./index.ts";

const agent = defineAgent({ card: { name: "Echo" }, *execute() {} });
const auth = { gates: { key: apiKey({ header: "X-Key", keys: {} }) } };
const tls = createSelfSignedCertificate();

const start = (options: ServeOptions) =>
  serve(agent, { store: createMemoryTaskStore(), shutdown: false, ...options });

describe("a server that others can reach", () => {
  it.each<[what: string, options: ServeOptions, sentence: RegExp]>([
    [
      "without a gate",
      { host: "0.0.0.0" },
      /listen on 0\.0\.0\.0, and demand no credentials .* auth: \{ gates: .* open: true \(--open\)/,
    ],
    ["without a gate, over TLS", { host: "::", tls }, /demand no credentials from callers/],
    ["by a name that could be any address", { host: "agents.example" }, /demand no credentials from callers/],
    [
      "with a gate and without TLS",
      { host: "0.0.0.0", auth },
      /without TLS.* cleartext: true \(--cleartext\)/,
    ],
  ])("does not start %s", async (_what, options, sentence) => {
    await expect(start(options)).rejects.toThrow(sentence);
  });

  it("does not start when one of several agents has no gate", async () => {
    const store = createMemoryTaskStore;
    const agents = { one: { agent, auth, store: store() }, two: { agent, store: store() } };
    await expect(serve(agents, { host: "0.0.0.0", cleartext: true })).rejects.toThrow(
      "demand no credentials from callers",
    );
  });

  it("demands credentials for an agent whose own gates are undefined, as for the others", async () => {
    const given: object = { auth: undefined }; // as programs without exactOptionalPropertyTypes may
    const own = { agent, store: createMemoryTaskStore(), ...given };
    await using served = await serve({ own }, { auth, host: "0.0.0.0", cleartext: true });
    const url = `http://127.0.0.1:${served.port}/agents/own/rest/tasks`;
    const { status } = await fetch(url, { headers: { "a2a-version": "1.0" } });
    expect(status).toBe(401);
  });

  it.each<[what: string, options: ServeOptions]>([
    ["open", { host: "0.0.0.0", open: true }],
    ["with a gate behind a proxy", { host: "0.0.0.0", auth, cleartext: true }],
    ["with a gate and TLS", { host: "0.0.0.0", auth, tls }],
    ["on this machine alone", { auth }],
  ])("starts %s", async (_what, options) => {
    const served = await start(options);
    await served.close({ graceMs: 0 });
  });
});

it("says strict transport security over TLS, to others than this machine", async () => {
  const dispatcher = new Agent({ connect: { ca: tls.cert } });
  const seen: (string | null)[] = [];
  for (const host of ["0.0.0.0", "localhost"]) {
    const served = await start({ host, tls, open: true });
    const { headers } = await fetch(`${served.url}/healthz`, { dispatcher });
    seen.push(headers.get("strict-transport-security"));
    await served.close({ graceMs: 0 });
  }
  await dispatcher.close();
  expect(seen).toEqual(["max-age=31536000", null]);
});

it.each([
  ["localhost", true],
  ["127.0.0.2", true],
  ["::1", true],
  ["::", false],
  ["0.0.0.0", false],
  ["192.168.0.1", false],
  ["localhost.evil.example", false],
] as const)("%s is this machine alone: %s", (host, own) => {
  expect(isOwnMachine(host)).toBe(own);
});
