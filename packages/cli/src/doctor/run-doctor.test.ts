import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServedAgent, serve } from "@a2a-connect/node";
import { createMemoryTaskStore, defineAgent, type TaskStore } from "@a2a-connect/server";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { fieldsOf, linesOf } from "../../test-support/fields.ts";
import { runCommand } from "../../test-support/run-command.ts";
import { at, card, cardPath, jsonRpcAgent, send, startSick } from "../../test-support/sick-server.ts";
import type { ChecklistItem } from "./checklist.ts";
import type { Finding } from "./findings.ts";

const skill = (id: string, example: string) => ({
  id,
  name: id,
  description: `Does what is called "${id}" here, so that the checklist has something to look at.`,
  tags: ["test"],
  examples: [example],
});

/** Completes, asks and refuses, by skill. */
const wellBehaved = defineAgent({
  card: {
    name: "Well behaved",
    description: "Does all that a checklist asks for, one thing a skill, and tells why.",
    version: "2.1.0",
    skills: [skill("work", "work"), skill("ask", "ask"), skill("refuse", "refuse")],
  },
  async *execute(turn) {
    if (turn.text === "ask") yield turn.inputRequired("Which one?");
    else if (turn.text === "refuse") yield turn.reject("Not that.", { reason: "on-purpose" });
    else yield turn.artifact({ name: "result", text: turn.text });
  },
});

interface Report {
  readonly card: { readonly name: string; readonly version: string } | null;
  readonly count: Readonly<Record<string, number>>;
  readonly score?: { readonly points: number; readonly of: number };
  readonly findings: readonly Finding[];
  readonly checklist?: readonly ChecklistItem[];
}

async function doctor(...argv: string[]): Promise<{ report: Report; exitCode: number; stderr: string }> {
  const { stdout, stderr, exitCode } = await runCommand(["doctor", ...argv, "-o", "json"]);
  return { report: JSON.parse(stdout) as Report, exitCode, stderr }; // our own
}

async function startAgent(store: TaskStore = createMemoryTaskStore(), port = 0): Promise<ServedAgent> {
  return await serve(wellBehaved, { store, port });
}

describe("a2a doctor", () => {
  it("calls one of several agents by its name on every interface (P-1)", async () => {
    const agent = { agent: wellBehaved, store: createMemoryTaskStore() };
    await using served = await serve({ well: agent, other: { ...agent, store: createMemoryTaskStore() } });
    const { report, exitCode } = await doctor(served.agents.well.url);
    const problems = report.findings.filter(({ severity }) => severity === "problem");
    expect({ problems, exitCode }).toEqual({ problems: [], exitCode: 0 });
    const reached = report.findings.find(({ id }) => id === "interface.answers");
    expect(reached?.at).toHaveLength(7); // five of 1.0, and two of 0.3
  });

  it("says in fields what it found, and exits with 0 when nothing keeps callers out", async () => {
    await using served = await startAgent();
    const { stdout, exitCode } = await runCommand(["doctor", served.url]);
    expect(exitCode).toBe(0);
    expect(fieldsOf(stdout).get("Summary")?.[0]).toMatch(/^0 problems, 0 warnings, /);
    expect(stdout).toMatch(/^OK: The interface answers as it should\./m);
  });

  it("exits with 1 and says what to do when there is a problem", async () => {
    await using server = await startSick(at({}));
    const { stdout, exitCode } = await runCommand(["doctor", server.url]);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^Problem: There is no card\.\nEvidence: .*HTTP 404.*\nFix: /m);
  });

  it("says what it waits for, before it does", async () => {
    await using server = await startSick(() => {});
    const { stderr } = await runCommand(["doctor", server.url, "--request-timeout", "300ms"]);
    expect(stderr).toBe(
      `Asking ${server.url} for its card; each request may take 300ms (--request-timeout).\n`,
    );
  });

  it("gives one document, or one a finding", async () => {
    await using served = await startAgent();
    const { report } = await doctor(served.url);
    expect(report.card).toEqual({ name: "Well behaved", version: "2.1.0" });
    expect(report.findings.length).toBeGreaterThan(10);
    const { stdout } = await runCommand(["doctor", served.url, "-o", "json", "--stream"]);
    expect(linesOf(stdout)).toHaveLength(report.findings.length + 1);
  });

  it("examines a card in a file, and the servers that it names", async () => {
    await using served = await startAgent();
    const directory = await mkdtemp(join(tmpdir(), "a2a-doctor-"));
    try {
      const path = join(directory, "card.json");
      await writeFile(path, await (await fetch(`${served.url}${cardPath}`)).text());
      const { report, exitCode } = await doctor(path);
      expect(exitCode).toBe(0);
      expect(report.findings).toContainEqual(
        expect.objectContaining({ id: "interface.answers", severity: "ok" }),
      );
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it("lets no terminal see what a server wants it to do", async () => {
    await using server = await startSick(
      at({ [cardPath]: send(card({ version: "\u001b]0;owned\u0007one" })) }),
    );
    const { stdout } = await runCommand(["doctor", server.url, "--request-timeout", "1s"]);
    expect(stdout).toContain("one");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  it("goes on after a certificate that is not trusted with --insecure, and says so", async () => {
    const store = createMemoryTaskStore();
    await using served = await serve(wellBehaved, { store, tls: createSelfSignedCertificate() });
    const { report, exitCode } = await doctor(served.url, "--insecure");
    expect(report.findings).toContainEqual(
      expect.objectContaining({
        id: "tls.self-signed",
        severity: "problem",
        evidence: expect.stringContaining("DEPTH_ZERO_SELF_SIGNED_CERT"),
      }),
    );
    expect(report.findings).toContainEqual(
      expect.objectContaining({
        id: "interface.answers",
        severity: "ok",
        at: expect.arrayContaining(["JSONRPC", "GRPC"]),
      }),
    );
    expect(exitCode).toBe(1);
  });

  it("refuses a restart command that nothing would run", async () => {
    const { exitCode, stderr } = await runCommand(["doctor", "localhost:1", "--restart-command", "true"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--checklist");
  });
});

describe("the checklist", () => {
  it("is proved by what the agent does, and tells before what it sends", async () => {
    await using served = await startAgent();
    const { report, stderr } = await doctor(served.url, "--checklist");
    expect(stderr).toContain('work: "work", ask: "ask", refuse: "refuse"');
    const verdicts = Object.fromEntries((report.checklist ?? []).map(({ id, verdict }) => [id, verdict]));
    expect(verdicts).toEqual({
      findings: "yes",
      access: "no", // it is open to everybody
      version: "yes",
      caching: "yes",
      descriptions: "yes",
      examples: "yes",
      "state.completed": "yes",
      "state.input-required": "yes",
      "state.failed": "yes",
      "state.canceled": "yes",
      reasons: "yes",
      "question-timeout": "yes",
      resume: "yes",
      idempotency: "yes",
      durability: "unproven",
    });
    expect(report.score).toEqual({ points: 13, of: 15 });
  });

  it("believes no promise that is not kept", async () => {
    const uri = "urn:a2a-connect:ext:lifecycle:v1";
    const capabilities = { extensions: [{ uri, params: { asks: false, idempotencyKeys: true } }] };
    const skills = ["work", "fail"].map((id) => skill(id, id));
    let tasks = 0;
    await using server = await startSick(
      jsonRpcAgent({ capabilities, skills }, ({ method, params }) => {
        if (method !== "SendMessage") return { error: { code: -32001, message: "no such task" } };
        const failed = JSON.stringify(params).includes('"fail"');
        const state = failed ? "TASK_STATE_FAILED" : "TASK_STATE_COMPLETED";
        return { result: { task: { id: `t${tasks++}`, contextId: "c", status: { state } } } };
      }),
    );
    const { report } = await doctor(server.url, "--checklist");
    const verdicts = Object.fromEntries((report.checklist ?? []).map(({ id, verdict }) => [id, verdict]));
    expect(verdicts).toMatchObject({
      "state.completed": "yes",
      "state.failed": "yes",
      idempotency: "no", // two tasks for one key
      reasons: "no", // it says that it failed, and nothing else
      resume: "unproven",
      "question-timeout": "yes",
    });
  });

  it("notices by a restart whether tasks survive", async () => {
    for (const keeps of [true, false]) {
      const kept = createMemoryTaskStore();
      // Closed with its server, it would be closed for the next one as well.
      const store = { ...kept, close: async () => {} };
      let served = await startAgent(store);
      const { port } = served;
      await using restarter = await startRestarter(async () => {
        await served.close({ graceMs: 0, timeoutMs: 1_000 });
        served = await startAgent(keeps ? store : createMemoryTaskStore(), port);
      });
      const command = `${process.execPath} -e "fetch('${restarter.url}').then((r) => process.exit(r.ok ? 0 : 1))"`;
      const { report } = await doctor(served.url, "--checklist", "--restart-command", command);
      await served.close({ graceMs: 0, timeoutMs: 1_000 });
      const durability = report.checklist?.find(({ id }) => id === "durability");
      expect(durability).toMatchObject(
        keeps
          ? { verdict: "yes", evidence: expect.stringContaining("still there") }
          : { verdict: "no", evidence: expect.stringContaining("is gone") },
      );
    }
  });

  it("waits for a server that comes back later than the restart command ends", async () => {
    const store = { ...createMemoryTaskStore(), close: async () => {} };
    let served = await startAgent(store);
    const { port, url } = served;
    let back: Promise<void> | undefined;
    await using restarter = await startRestarter(async () => {
      await served.close({ graceMs: 0, timeoutMs: 1_000 });
      const refusing = await startSick((request) => {
        // The doctor has asked, in vain.
        request.socket.destroy();
        back ??= (async () => {
          await refusing[Symbol.asyncDispose]();
          served = await startAgent(store, port);
        })();
      }, port);
    });
    const command = `${process.execPath} -e "fetch('${restarter.url}').then((r) => process.exit(r.ok ? 0 : 1))"`;
    const { report } = await doctor(url, "--checklist", "--restart-command", command);
    await served.close({ graceMs: 0, timeoutMs: 1_000 });
    expect(back).toBeDefined();
    expect(report.checklist?.find(({ id }) => id === "durability")).toMatchObject({ verdict: "yes" });
  });

  it("says so when the restart command fails", async () => {
    await using served = await startAgent();
    const { report } = await doctor(served.url, "--checklist", "--restart-command", "exit 3");
    expect(report.checklist?.find(({ id }) => id === "durability")).toMatchObject({
      verdict: "unproven",
      evidence: "the restart command failed: it ended with code 3",
    });
  });

  it("is left out for an agent that cannot be called", async () => {
    const supportedInterfaces = [{ url: "x", protocolBinding: "urn:x", protocolVersion: "1.0" }];
    await using server = await startSick(at({ [cardPath]: send(card({ supportedInterfaces })) }));
    const { report, stderr, exitCode } = await doctor(server.url, "--checklist");
    expect(exitCode).toBe(1);
    expect(report.checklist).toBeUndefined();
    expect(stderr).toContain("needs an agent that can be called");
  });
});

/** Somebody outside the command's process who restarts the agent when asked. */
async function startRestarter(
  restart: () => Promise<void>,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_request, response) => {
    restart().then(
      () => response.end("done"),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it listens on a port
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
