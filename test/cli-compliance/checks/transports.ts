import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { startControlledAgent } from "../../../packages/cli/test-support/controlled-agent.ts";
import { field, linesOf } from "../../../packages/cli/test-support/fields.ts";
import { startRecordingAgent } from "../../../packages/cli/test-support/recording-agent.ts";
import { startCuttingProxy } from "../../faults/cutting-proxy.ts";
import { collectChecks, type Lab } from "../check.ts";

let files = 0;

/** A file with a card of these interfaces. */
async function writeCard(
  { directory }: Pick<Lab, "directory">,
  supportedInterfaces: readonly object[],
): Promise<string> {
  files += 1;
  const path = join(directory, `card-${files}.json`);
  const card = {
    name: "written",
    description: "Stands in a file.",
    version: "1.0.0",
    supportedInterfaces,
    capabilities: { streaming: true },
    defaultInputModes: ["*/*"],
    defaultOutputModes: ["*/*"],
    skills: [{ id: "main", name: "Main", description: "Everything.", tags: ["test"] }],
  };
  await writeFile(path, JSON.stringify(card));
  return path;
}

const jsonRpc = (url: string, more: object = {}) => ({
  url: `${url}/rpc`,
  protocolBinding: "JSONRPC",
  protocolVersion: "1.0",
  ...more,
});
const httpJson = (url: string) => ({
  url: `${url}/rest`,
  protocolBinding: "HTTP+JSON",
  protocolVersion: "1.0",
});

/** Bindings, versions, and connections that break. */
export const transports = collectChecks((shows) => {
  shows(
    [
      "A2ACLI_TX_001",
      "A2ACLI_TX_002",
      "transport_server_preference_order: shipped",
      "transport_server_preference_order: overridable",
    ],
    "takes the first interface of the card that it knows, or what the user likes better",
    async (lab) => {
      const { url } = lab.agent;
      const unknown = { url: "http://127.0.0.1:1", protocolBinding: "urn:unknown", protocolVersion: "1.0" };
      const file = await writeCard(lab, [unknown, httpJson(url), jsonRpc(url)]);
      const used = async (...flags: string[]) => {
        const { stderr } = await lab.a2a("send", "echo x", "--debug", "-a", file, ...flags);
        return /^debug: calls go to (\S+)/m.exec(stderr)?.[1];
      };
      expect(await used()).toBe(`${url}/rest`);
      expect(await used("--transport", "jsonrpc")).toBe(`${url}/rpc`);
      expect(await used("--transport", "grpc", "--transport", "jsonrpc", "--transport", "http+json")).toBe(
        `${url}/rpc`,
      );
      expect(await used("--transport", "grpc")).toBe(`${url}/rest`);
    },
  );

  for (const [ids, transport] of [
    ["A2ACLI_TX_004", "jsonrpc"],
    ["A2ACLI_TX_004", "http+json"],
    ["A2ACLI_TX_005", "grpc"],
  ] as const) {
    shows(ids, `does the same over ${transport}`, async ({ ask }) => {
      const { stdout, stderr } = await ask("send", "task hello", "--transport", transport, "--debug");
      expect(stderr.toLowerCase()).toMatch(
        new RegExp(`^debug: calls go to \\S+ by ${transport.replace("+", "\\+")}$`, "m"),
      );
      expect(field(stdout, "State")).toBe("TASK_STATE_COMPLETED");
      expect(stdout).toContain("Text:\nhello\n\n");
    });
  }

  shows(
    "A2ACLI_TX_003",
    "sends the interface's tenant with every request, and none where there is none",
    async (lab) => {
      await using recorder = await startRecordingAgent();
      const withTenant = await writeCard(lab, [jsonRpc(recorder.url, { tenant: "acme" })]);
      await lab.a2a("send", "x", "--async", "-a", withTenant);
      await lab.a2a("task", "get", "t", "-a", withTenant);
      await lab.a2a("send", "x", "--async", "-a", await writeCard(lab, [jsonRpc(recorder.url)]));
      const tenants = recorder.calls.map(
        ({ body }) => (JSON.parse(body) as { params: { tenant?: string } }).params.tenant,
      );
      expect(tenants).toEqual(["acme", "acme", undefined]);
    },
  );

  shows("A2ACLI_VER_001", "names its version in every request, and none below 1.0", async (lab) => {
    await using recorder = await startRecordingAgent();
    await lab.a2a("send", "x", "-a", recorder.url);
    await lab.a2a("task", "get", "t", "-a", recorder.url);
    expect(recorder.calls.map(({ headers }) => headers["a2a-version"])).toEqual(["1.0", "1.0"]);
    const older = await writeCard(lab, [jsonRpc(recorder.url, { protocolVersion: "0.3" })]);
    for (const argv of [
      ["-a", older],
      ["-a", recorder.url, "--a2a-version", "7.0"],
    ]) {
      const { stdout, exitCode } = await lab.a2a("send", "x", "-o", "json", ...argv);
      expect(JSON.parse(stdout)).toMatchObject({ error: { code: "VersionNotSupportedError" } });
      expect(exitCode).toBe(1);
    }
    expect(recorder.calls).toHaveLength(2);
  });

  shows(
    ["protocol_version_highest_mutual: shipped", "protocol_version_highest_mutual: overridable"],
    "speaks the highest version that both sides know, or the one it is told",
    async (lab) => {
      await using recorder = await startRecordingAgent();
      const file = await writeCard(lab, [
        jsonRpc(recorder.url, { protocolVersion: "0.3" }),
        jsonRpc(recorder.url, { protocolVersion: "1.0" }),
        jsonRpc(recorder.url, { protocolVersion: "9.0" }),
      ]);
      await lab.a2a("send", "x", "-a", file);
      expect(recorder.calls.map(({ headers }) => headers["a2a-version"])).toEqual(["1.0"]);
      const { exitCode } = await lab.a2a("send", "x", "--a2a-version", "0.3", "-a", file);
      expect(recorder.calls.map(({ headers }) => headers["a2a-version"])).toEqual(["1.0", "0.3"]);
      expect(exitCode).toBe(1); // the agent answers in words of 1.0; told so, the command does not fall back to it
    },
  );

  shows(
    "A2ACLI_TASK_SUBSCRIBE_002",
    "takes a stream up again after its connection broke, without a loss",
    async (lab) => {
      await using own = await startControlledAgent();
      await using proxy = await startCuttingProxy(own.url);
      const id = field((await lab.a2a("send", "hold x", "--async", "-a", own.url)).stdout, "Task");
      const file = await writeCard(lab, [jsonRpc(proxy.url)]);
      proxy.cutNext({ afterResponseBytes: 600 }); // in the middle of the first events
      const following = lab.start([
        "task",
        "subscribe",
        id,
        "-o",
        "json",
        "--stream",
        "--after",
        "0",
        "-a",
        file,
      ]);
      await following.waitFor(/TASK_STATE_WORKING/);
      own.release();
      const { stdout, exitCode } = await following.result;
      expect([proxy.cuts, exitCode]).toEqual([1, 0]);
      const replayed = await lab.a2a("task", "history", id, "-o", "json", "--stream", "-a", own.url);
      expect(linesOf(stdout)).toEqual(linesOf(replayed.stdout));
      const again = await lab.a2a("task", "subscribe", id, "-o", "json", "--stream", "-a", own.url);
      expect(linesOf(again.stdout)[0]).toMatchObject({ task: { id, artifacts: [{ name: "held" }] } });
    },
  );
});
