import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createReferenceAgent, profileOptions } from "@a2a-connect/reference-agent";
import { type AgentHarness, startAgentHarness } from "@a2a-connect/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fieldsOf, linesOf } from "../../packages/cli/test-support/fields.ts";
import { atTerminal, startOnTerminal } from "../../packages/cli/test-support/pseudo-terminal.ts";
import { type CommandResult, runCommand, startCommand } from "../../packages/cli/test-support/run-command.ts";
import { showOnTerminal } from "../../packages/cli/test-support/terminal-model.ts";
import { cardPath, type ProxyOptions, startAlteringProxy } from "./altering-proxy.ts";

let reference: AgentHarness;
let folder: string;

beforeAll(async () => {
  reference = await startAgentHarness({ ...profileOptions("full"), agent: createReferenceAgent("full") });
});
afterAll(() => reference[Symbol.asyncDispose]());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "a2a-conformance-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Answers an unknown task with 400. */
const wrongStatus: ProxyOptions = {
  alter(answer) {
    if (answer.status === 404) answer.status = 400;
  },
};

async function run(url: string, ...flags: string[]): Promise<CommandResult> {
  return await runCommand(["conformance", url, ...flags], { cwd: folder });
}

describe("a2a conformance", () => {
  it("says of a server that conforms that it does, and what was not tried", async () => {
    const { stdout, exitCode } = await run(reference.url, "--only", "A");
    const fields = fieldsOf(stdout);
    expect(fields.get("Failed")).toBeUndefined();
    expect(fields.get("Wires")).toEqual(["grpc, grpc-web, connect, jsonrpc, http-json"]);
    expect(fields.get("Specification")).toEqual(["A2A 1.0.1, which the server speaks"]);
    expect(fields.get("MUST")?.[0]).toMatch(/^\d{2,} passed, 0 failed, \d+ do not apply$/);
    expect(stdout).toMatch(
      /^ +card +grpc +grpc-web +connect +jsonrpc +http-json\nA Operations +\S+ +\d+ +\d+/m,
    );
    expect(stdout).toMatch(/^Verdict: conforms$/m);
    expect(exitCode).toBe(0);
  });

  it("says what a server does wrong, and exits with 1", async () => {
    await using proxy = await startAlteringProxy(reference.url, wrongStatus);
    const flags = ["--only", "K-7,E-7", "--wire", "http-json", "--agent", "reference"];
    const { stdout, stderr, exitCode } = await run(proxy.url, ...flags);
    expect(fieldsOf(stdout).get("Failed")).toContainEqual(
      expect.stringMatching(
        /^E-1 .*\(MUST\) over http-json: "answers an unknown task.* with HTTP status 404": found 400, wanted 404$/,
      ),
    );
    expect(stdout).toMatch(/^Verdict: does not conform$/m);
    expect(stderr).toContain("--html report.html shows the requests and answers");
    expect(exitCode).toBe(1);
  });

  it("tells what fails in the same way once, with the requirements that it touches", async () => {
    await using proxy = await startAlteringProxy(reference.url, {
      alter(answer) {
        if (answer.path === cardPath) return;
        answer.status = 503;
        answer.body = "down";
      },
    });
    const { stdout } = await run(proxy.url, "--only", "A,E", "--wire", "jsonrpc,http-json");
    const fields = fieldsOf(stdout);
    expect(fields.get("Failed")?.length).toBeLessThan(20);
    const [checks = "", said = ""] =
      fields.get("Same cause")?.[0]?.split(" checks over jsonrpc, http-json ") ?? [];
    expect(Number(checks)).toBeGreaterThan(80);
    expect(said).toMatch(/fail like this: .*503.* \(A-1 A-2 .* and \d+ more\)$/);
  });

  it("counts a SHOULD only where it is asked to", async () => {
    await using proxy = await startAlteringProxy(reference.url, {
      alter(answer) {
        if (answer.path === cardPath && answer.status === 304) answer.status = 200;
      },
    });
    const lenient = await run(proxy.url, "--only", "L-5");
    expect(fieldsOf(lenient.stdout).get("Failed")?.[0]).toMatch(/^L-5 \(SHOULD\) over card: /);
    expect(fieldsOf(lenient.stdout).get("Verdict")).toEqual(["conforms"]);
    expect(lenient.exitCode).toBe(0);
    expect((await run(proxy.url, "--only", "L-5", "--strict")).exitCode).toBe(1);
  });

  it("writes a page, JUnit XML and a badge", async () => {
    await using proxy = await startAlteringProxy(reference.url, wrongStatus);
    const flags = ["--agent", "reference", "--only", "K-7", "--wire", "http-json"];
    const files = ["--html", "r.html", "--junit", "r.xml", "--badge", "r.svg"];
    expect((await run(proxy.url, ...flags, ...files)).exitCode).toBe(1);
    const [page, xml, badge] = await Promise.all(
      ["r.html", "r.xml", "r.svg"].map((file) => readFile(join(folder, file), "utf8")),
    );
    expect(page).toContain("It does not conform: ");
    expect(page).toMatch(/<pre>curl -i .*\/rest\/tasks\//);
    expect(xml).toMatch(/<testsuites name="A2A conformance of http:[^"]*" tests="\d+" failures="\d+"/);
    expect(badge).toContain("A2A 1.0.1");
    expect((await run(proxy.url, ...flags, "--html", "none/r.html")).exitCode).toBe(2);
  });

  it("gives one document, or one a result", async () => {
    const flags = ["--only", "A-30", "--wire", "grpc", "--output", "json"];
    const { stdout } = await run(reference.url, ...flags);
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({ verdict: "passed", spec: { version: "1.0.1" }, agent: "any" });
    const lines = linesOf((await run(reference.url, ...flags, "--stream")).stdout);
    expect(lines).toHaveLength(document.results.length + 1);
    expect(lines.at(-1)).toMatchObject({ report: { verdict: "passed" } });
  });

  it("sends a token with calls, never with the card, and prints it nowhere", async () => {
    const seen = new Map<string, string | undefined>();
    await using proxy = await startAlteringProxy(reference.url, {
      ...wrongStatus,
      answer(request) {
        seen.set(request.url ?? "", request.headers.authorization);
        return false;
      },
    });
    const token = "a-token-of-mine";
    const flags = ["--agent", "reference", "--only", "E-7,L-1", "--wire", "http-json,card"];
    const { stdout, stderr } = await run(
      proxy.url,
      ...flags,
      "--bearer",
      token,
      "--verbose",
      "--html",
      "r.html",
    );
    expect(seen.get(cardPath)).toBeUndefined();
    seen.delete(cardPath);
    expect(seen.size).toBeGreaterThan(2);
    expect(new Set(seen.values())).toEqual(new Set([`Bearer ${token}`]));
    expect(stdout).toContain("authorization: Bearer ***");
    expect(stdout + stderr + (await readFile(join(folder, "r.html"), "utf8"))).not.toContain(token);
  });

  for (const [what, flags, exitCode, wanted] of [
    ["a file", [fileURLToPath(import.meta.url)], 2, "conformance examines a server"],
    ["a requirement that there is not", ["URL", "--only", "A-999"], 2, "there is no requirement A-999"],
    ["a wire that there is not", ["URL", "--wire", "telex"], 2, "Allowed choices are grpc, grpc-web"],
    ["a server without a card", ["URL/nothing-here"], 3, "answers with HTTP 404"],
    ["to trust any certificate", ["URL", "--insecure"], 2, "NODE_EXTRA_CA_CERTS"],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const argv = flags.map((flag) => flag.replace("URL", reference.url));
      const result = await runCommand(["conformance", ...argv], { cwd: folder });
      expect(result.exitCode).toBe(exitCode);
      expect(result.stderr).toContain(wanted);
    });
  }

  it("ends at a Ctrl-C", async () => {
    await using proxy = await startAlteringProxy(reference.url, { answer: ({ url }) => url !== cardPath });
    const command = startCommand(["conformance", proxy.url, "--scenario-timeout", "1s"], { cwd: folder });
    await command.waitFor(/^Failed: /m);
    command.interrupt();
    expect((await command.result).exitCode).toBe(130);
  });

  it("counts the checks below what fails, at a terminal, and ends with a table", atTerminal, async () => {
    await using proxy = await startAlteringProxy(reference.url, wrongStatus);
    const argv = [
      "conformance",
      proxy.url,
      "--agent",
      "reference",
      "--only",
      "E",
      "--wire",
      "http-json,jsonrpc",
    ];
    const terminal = startOnTerminal(argv, { columns: 100, cwd: folder });
    expect(await terminal.exitCode).toBe(1);
    const shown = showOnTerminal(terminal.sent, 100).join("\n");
    expect(shown.match(/^ +jsonrpc +http-json$/gm)).toHaveLength(1);
    expect(shown).toMatch(/^Failed: E-1 .*\(MUST\) over http-json: /m);
    expect(shown).toMatch(/^E Errors +\d+ +\d+ ✗\d+$/m);
    expect(terminal.sent).toMatch(/(\d+) of \1 checks, [1-9]\d* failed/);
    expect(shown).not.toContain(" checks, ");
    expect(shown).toMatch(/^Verdict: does not conform$/m);
  });
});
