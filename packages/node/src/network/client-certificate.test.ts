import { generateKeyPairSync } from "node:crypto";
import type { SecureContextOptions } from "node:tls";
import { basic, hashPassword, mutualTls } from "@a2a-connect/auth";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import {
  type CertificateKeys,
  createCertificateAuthority,
  createSelfSignedCertificate,
} from "@a2a-connect/testing";
import { Agent, fetch } from "undici";
import { describe, expect, it } from "vitest";
import { serve } from "../index.ts";

const agent = defineAgent({
  card: { name: "Guarded" },
  *execute(turn) {
    yield turn.reply(turn.caller.principal);
  },
});
const body = () =>
  JSON.stringify({ message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "hi" }] } });

describe("a client certificate", () => {
  const authority = createCertificateAuthority();
  const spiffe = "spiffe://acme.example/worker";
  const tls = { ...createSelfSignedCertificate(), clientCa: authority.cert };

  async function callOf(
    url: string,
    pair?: { readonly cert: string; readonly key: string },
    allowH2 = false,
    options: SecureContextOptions = {},
  ) {
    const dispatcher = new Agent({ allowH2, connect: { ca: tls.cert, ...pair, ...options } });
    const response = await fetch(`${url}/rest/message:send`, {
      method: "POST",
      headers: { "a2a-version": "1.0", "content-type": "application/json" },
      body: body(),
      dispatcher,
    });
    const json = (await response.json()) as { message?: { parts: { text: string }[] } };
    await dispatcher.close();
    return json.message?.parts[0]?.text ?? response.status;
  }

  it("says who calls by its SPIFFE ID, else by its subject, over both HTTP versions", async () => {
    const auth = { gates: { certificate: mutualTls() } };
    const served = await serve(agent, { auth, tls, store: createMemoryTaskStore(), shutdown: false });
    const worker = authority.issue({ subject: "worker", uris: [spiffe] });
    expect([await callOf(served.url, worker), await callOf(served.url, worker, true)]).toEqual([
      spiffe,
      spiffe,
    ]);
    const comma = authority.issue({ subject: "worker,O=Acme" });
    expect(await callOf(served.url, comma)).toBe("x509:CN=worker\\,O=Acme");
    const two = authority.issue({ subject: "worker", uris: [spiffe, "spiffe://acme.example/admin"] });
    const quoted = authority.issue({ subject: "worker", uris: [`https://x, URI:${spiffe}`] });
    const stranger = createCertificateAuthority("Test CA").issue({ subject: "worker", uris: [spiffe] });
    expect(await Promise.all([two, stranger, undefined].map((pair) => callOf(served.url, pair)))).toEqual([
      401, 401, 401,
    ]);
    expect(await callOf(served.url, quoted)).toBe("x509:CN=worker");
    await served.close({ graceMs: 0 });
  });

  describe.each(["rsa", "ec"] as const)(
    "of a stranger that names our authority, whose key is %s,",
    (type) => {
      const createKeys = (): CertificateKeys =>
        type === "rsa"
          ? generateKeyPairSync("rsa", { modulusLength: 2048 })
          : generateKeyPairSync("ec", { namedCurve: "P-256" });
      const ours = createCertificateAuthority("Test CA", createKeys());
      const stranger = createCertificateAuthority("Test CA", createKeys()).issue({ subject: "worker" });

      it.each([
        ["HTTP/1.1", "TLSv1.2", false],
        ["HTTP/1.1", "TLSv1.3", false],
        ["HTTP/2", "TLSv1.2", true],
        ["HTTP/2", "TLSv1.3", true],
      ] as const)("is answered 401 over %s and %s, not cut", async (_, version, allowH2) => {
        const auth = { gates: { certificate: mutualTls() } };
        const served = await serve(agent, {
          auth,
          tls: { ...tls, clientCa: ours.cert },
          store: createMemoryTaskStore(),
          shutdown: false,
        });
        const versions = { minVersion: version, maxVersion: version };
        const worker = ours.issue({ subject: "worker" });
        expect(await callOf(served.url, worker, allowH2, versions)).toBe("x509:CN=worker");
        expect(await callOf(served.url, stranger, allowH2, versions)).toBe(401);
        await served.close({ graceMs: 0 });
      });
    },
  );

  it("may be needed beside a password (OR of ANDs)", async () => {
    const users = { alice: { hash: await hashPassword("secret") } };
    const gates = { user: basic({ users }), certificate: mutualTls() };
    const auth = { gates, requirements: [["user", "certificate"]] };
    const served = await serve(agent, { auth, tls, store: createMemoryTaskStore(), shutdown: false });
    const pair = authority.issue({ subject: "laptop" });
    const dispatcher = new Agent({ connect: { ca: tls.cert, ...pair } });
    const plain = new Agent({ connect: { ca: tls.cert } });
    const authorization = `Basic ${btoa("alice:secret")}`;
    const statuses: number[] = [];
    for (const [way, header] of [
      [dispatcher, authorization],
      [dispatcher, ""],
      [plain, authorization],
    ] as const) {
      const response = await fetch(`${served.url}/rest/message:send`, {
        method: "POST",
        headers: {
          "a2a-version": "1.0",
          "content-type": "application/json",
          ...(header && { authorization: header }),
        },
        body: body(),
        dispatcher: way,
      });
      statuses.push(response.status);
      await response.text();
    }
    expect(statuses).toEqual([200, 401, 401]);
    const card = served.card.securityRequirements.map(({ schemes }) => Object.keys(schemes));
    expect(card).toEqual([["user", "certificate"]]);
    await Promise.all([dispatcher.close(), plain.close(), served.close({ graceMs: 0 })]);
  });
});
