import { serve } from "@a2a-connect/node";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { diagnose } from "../../test-support/diagnose.ts";
import { at, cardPath, send, startSick } from "../../test-support/sick-server.ts";
import type { Diagnosis } from "./examine.ts";
import type { Finding } from "./findings.ts";

const healthy = defineAgent({
  card: {
    name: "Echo",
    description: "Repeats what it is told, word for word, as an artifact. For tries.",
    version: "1.2.0",
    skills: [
      {
        id: "echo",
        name: "Echo",
        description: "Takes text and gives the same text back as an artifact.",
        tags: ["text"],
        examples: ["hello"],
      },
    ],
  },
  async *execute(turn) {
    yield turn.artifact({ name: "echo", text: turn.text });
  },
});

function serious({ findings }: Diagnosis): Finding[] {
  return findings.filter(({ severity }) => severity === "problem" || severity === "warning");
}

describe("a healthy agent", () => {
  it("has no problem on any wire", async () => {
    await using served = await serve(healthy, { store: createMemoryTaskStore(), push: true });
    const diagnosis = await diagnose(served.url);
    expect(serious(diagnosis)).toEqual([]);
    expect(diagnosis.card?.name).toBe("Echo");
    const health = diagnosis.findings.find(({ id }) => id === "interface.answers");
    expect(health).toMatchObject({
      severity: "ok",
      at: [
        ...["JSONRPC", "HTTP+JSON", "GRPC", "connect", "grpc-web"],
        ...["JSONRPC 0.3", "HTTP+JSON 0.3", "GRPC 0.3"],
      ],
    });
  });

  it("of A2A 0.3 is called in that version, and the kit, which is for 1.0, is not run", async () => {
    await using served = await serve(healthy, { store: createMemoryTaskStore() });
    const response = await fetch(`${served.url}${cardPath}`);
    const { supportedInterfaces: _, ...older } = await response.json();
    await using host = await startSick(at({ [cardPath]: send(JSON.stringify(older)) }));
    const { findings, card, results } = await diagnose(host.url);
    expect(card?.name).toBe("Echo");
    expect(findings.find(({ id }) => id === "card.older")).toBeDefined();
    expect(findings.find(({ id }) => id === "interface.answers")?.at).toEqual([
      ...["JSONRPC 0.3", "HTTP+JSON 0.3", "GRPC 0.3"],
    ]);
    expect(results).toEqual([]);
  });
});

describe("a server that cannot be reached", () => {
  it("is told when nothing listens", async () => {
    const server = await startSick(at({}));
    const { url } = server;
    await server[Symbol.asyncDispose]();
    const { findings, card: found } = await diagnose(url);
    expect(findings.at(-1)).toMatchObject({
      id: "network.refused",
      severity: "problem",
      evidence: expect.stringContaining("ECONNREFUSED"),
    });
    expect(found).toBeUndefined();
  });

  it("is told when its name is unknown", async () => {
    const { findings } = await diagnose("https://no-such-agent.invalid");
    expect(findings).toMatchObject([{ id: expect.stringMatching(/^network\.name/), severity: "problem" }]);
  });

  it("is told when its certificate is signed by itself alone", async () => {
    await using served = await serve(healthy, {
      store: createMemoryTaskStore(),
      tls: createSelfSignedCertificate(),
    });
    const { findings } = await diagnose(served.url);
    expect(findings.at(-1)).toMatchObject({
      id: "tls.self-signed",
      severity: "problem",
      evidence: expect.stringContaining("DEPTH_ZERO_SELF_SIGNED_CERT"),
    });
  });

  it("is told when TLS is tried where there is none", async () => {
    await using server = await startSick(at({}));
    const { findings } = await diagnose(server.url.replace("http:", "https:"));
    expect(findings.at(-1)).toMatchObject({
      id: "tls.none",
      severity: "problem",
    });
  });
});

describe("a server that takes connections and never answers", () => {
  it("is asked once, and the finding says for what and how long", async () => {
    const asked: (string | undefined)[] = [];
    await using server = await startSick(({ url }) => void asked.push(url));
    const { findings } = await diagnose(server.url, { timeoutMs: 1_500 });
    expect(asked).toEqual([cardPath]);
    expect(findings.at(-1)).toMatchObject({
      id: "network.timeout",
      severity: "problem",
      evidence: `${server.url}${cardPath}: nothing came within 1500ms`,
    });
  });
});

describe("an examination", () => {
  it("is left at once when the user interrupts", async () => {
    const controller = new AbortController();
    await using server = await startSick(
      at({
        [cardPath]: () => controller.abort(new Error("enough")),
      }),
    );
    await expect(diagnose(server.url, { signal: controller.signal })).rejects.toThrow("enough");
  });
});
