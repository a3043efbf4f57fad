import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shellWords } from "../../test-support/fields.ts";
import { startCommand } from "../../test-support/run-command.ts";

/** Has a card, and answers nothing that is asked of it. */
let mute: Server;
/** Has not even a card. */
let hung: Server;
let heard: PromiseWithResolvers<void>;

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // listens on a port

beforeAll(async () => {
  mute = createServer((request, response) => {
    if (request.method === "GET") {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(cardOf(urlOf(mute))));
    } else {
      heard.resolve();
    }
  });
  hung = createServer(() => heard.resolve());
  await Promise.all([mute, hung].map((server) => once(server.listen(0, "127.0.0.1"), "listening")));
});

afterAll(async () => {
  for (const server of [mute, hung]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

function cardOf(url: string) {
  return {
    name: "mute",
    description: "Says nothing.",
    version: "1.0.0",
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
  };
}

/** Interrupts a command as soon as the server has heard of it. */
async function interrupt(server: Server, ...argv: readonly string[]) {
  heard = Promise.withResolvers();
  const command = startCommand([...argv, "-a", urlOf(server)]);
  await heard.promise;
  command.interrupt();
  return await command.result;
}

describe("a command that is interrupted before it has an answer", () => {
  for (const how of [[], ["--stream"], ["--async"]] as const) {
    const flags = how.join(" ");
    it(`says that the message may have arrived, and how to look: send ${flags}`, async () => {
      const { stdout, stderr, exitCode } = await interrupt(mute, "send", "hi", "--context-id", "c 1", ...how);
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 130 });
      expect(stderr).toMatch(/^error: interrupted .*may have arrived/);
      const [, command = ""] = /^hint: .*?(a2a .*)$/m.exec(stderr) ?? [];
      expect(shellWords(command)).toEqual(["a2a", "task", "list", "-a", urlOf(mute), "--context-id", "c 1"]);
    });

    it(`says so in an error object: send -o json ${flags}`, async () => {
      const { stdout, stderr, exitCode } = await interrupt(mute, "send", "hi", "-o", "json", ...how);
      expect(JSON.parse(stdout)).toEqual({
        error: {
          code: "A2ACLI_ERR_INTERNAL",
          message: expect.stringMatching(/^interrupted .*may have arrived/),
          hint: expect.stringContaining(`a2a task list -a ${urlOf(mute)}`),
          a2aCode: null,
        },
      });
      expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 130 });
    });
  }

  it("names the task that the message was for", async () => {
    const { stderr } = await interrupt(mute, "send", "hi", "--task-id", "t-1");
    expect(stderr).toMatch(/^hint: .*a2a task get -a \S+ t-1$/m);
  });

  it("says that nothing was sent while it connects", async () => {
    const text = await interrupt(hung, "send", "hi");
    expect(text.stderr).toMatch(/^error: interrupted while connecting, before any call/);
    const json = await interrupt(hung, "send", "hi", "-o", "json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      error: { message: expect.stringMatching(/before any call/) },
    });
    expect([text.exitCode, json.exitCode]).toEqual([130, 130]);
  });

  it("says at least that it was interrupted", async () => {
    const { stderr, exitCode } = await interrupt(mute, "task", "list");
    expect(stderr).toMatch(/^error: interrupted/);
    expect(exitCode).toBe(130);
  });

  it("says how to look when --timeout passes, too", async () => {
    const argv = ["send", "hi", "--timeout", "300ms", "-a", urlOf(mute)];
    const { stderr, exitCode } = await startCommand(argv).result;
    expect(stderr).toMatch(/^error: .*within 300ms.*\nhint: .*a2a task list -a/);
    expect(exitCode).toBe(5);
  });
});
