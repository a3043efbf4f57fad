// What an agent sends as its work harms nobody who reads it: names of files, sequences for terminals, sizes and types
// that are not what they say.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import {
  type AgentClient,
  AgentError,
  type ConnectOptions,
  ContentTooLargeError,
  InputRequiredError,
  type Question,
  TaskFailedError,
  UntrustedOutputError,
} from "@a2a-connect/client";
import { connectAgent } from "@a2a-connect/node/client";
import type { Part } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import * as v from "valibot";
import { describe, expect, it, onTestFinished } from "vitest";
import { failureOf, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { type Answer, openStream, respondResult, startBrokenServer } from "./broken-server.ts";
import { chunkEvent, sendEvents, statusEvent, taskJson, wholeTask } from "./broken-task.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

/** Clears the screen, renames the window, hides what follows, and turns the direction of writing. */
const spell = "\u001b[2J\u001b]0;owned\u0007\u009b8m\u202etxt.exe";
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is about them
const magic = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

describe("sequences for terminals", () => {
  it("are in no question", async () => {
    const agent = await connect(askWith(spell));
    let asked: readonly (string | undefined)[] = [];
    const run = agent.run("Ask me.", {
      onInputRequired: ({ text, choices }) => {
        asked = [text, ...(choices ?? [])];
        return undefined;
      },
    });
    const thrown = await rejectedWith(run, InputRequiredError);
    expect(asked).toHaveLength(2);
    expect(asked.join(" ")).not.toMatch(magic);
    expect(String(thrown)).not.toMatch(magic);
  });

  it("are in no message of an error", async () => {
    const agent = await connect((call) =>
      sendEvents(call, 1, [
        wholeTask[0] ?? null,
        statusEvent("TASK_STATE_FAILED", {
          message: {
            messageId: "m",
            role: "ROLE_AGENT",
            parts: [{ text: spell }],
            metadata: { "urn:a2a-connect:ext:lifecycle:v1": { reason: spell } },
          },
        }),
      ]),
    );
    const thrown = await rejectedWith(agent.run("Fail."), TaskFailedError);
    expect(String(thrown)).not.toMatch(magic);
    expect(thrown instanceof AgentError && thrown.hint).not.toMatch(magic);
  });

  it("are in no message of an error that a server answers with", async () => {
    for (const pinBinding of ["JSONRPC", "HTTP+JSON"]) {
      const agent = await connect(
        ({ response, id }) => {
          response.writeHead(400, { "content-type": "application/json" });
          const error = { code: -32602, message: spell, status: "INVALID_ARGUMENT" };
          response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
        },
        { pinBinding },
      );
      expect(String(await failureOf(agent.getTask("t")))).not.toMatch(magic);
    }
  });
});

describe("long texts", () => {
  const long = "a\ufe0f".repeat(2 ** 20);
  const options = { maxResponseBytes: 16 * 2 ** 20 };

  it("are cut in a question, whose message has the whole; choices of that length are none", async () => {
    const agent = await connect(askWith(long), options);
    let asked: Question | undefined;
    const run = agent.run("Ask me.", {
      onInputRequired: (question) => {
        asked = question;
        return undefined;
      },
    });
    const thrown = await rejectedWith(run, InputRequiredError);
    expect(asked?.text).toBe(`${"a".repeat(2 ** 19)}…`);
    expect(asked?.choices).toBeUndefined();
    expect(asked?.message?.parts[0]?.content.value).toHaveLength(long.length);
    expect(thrown.message.length).toBeLessThanOrEqual(2 ** 14);
  });

  it("are cut in the message of an error, whose task has the whole", async () => {
    const message = { messageId: "m", role: "ROLE_AGENT", parts: [{ text: long }] };
    const failed = statusEvent("TASK_STATE_FAILED", { message });
    const agent = await connect((call) => sendEvents(call, 1, [wholeTask[0] ?? null, failed]), options);
    const thrown = (await rejectedWith(agent.run("Fail."), TaskFailedError)) as TaskFailedError;
    expect(thrown.message).toMatch(/^Task \S+ failed: a{7900,}…$/);
    expect(thrown.message.length).toBeLessThanOrEqual(2 ** 14);
    expect(thrown.statusMessage?.parts[0]?.content.value).toHaveLength(long.length);
  });

  it("are cut in the message of an error that a server answers with", async () => {
    const agent = await connect(({ response, id }) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32602, message: long } }));
    }, options);
    const thrown = await failureOf(agent.getTask("t"));
    expect(String(thrown)).toMatch(/a{7900,}…$/);
    expect(String(thrown).length).toBeLessThanOrEqual(2 ** 14 + 100);
  });
});

describe("names of files", () => {
  const names = [
    "../../etc/passwd",
    "/etc/passwd",
    "..\\..\\windows\\system32\\hosts",
    "..",
    ".",
    "",
    "~/.ssh/authorized_keys",
    "a\u0000b",
    `${spell}.png`,
    "CON",
    "x".repeat(1_000),
    ".bashrc",
    "taken.txt",
  ];

  it("lead out of no directory and over no file", async () => {
    const root = mkdtempSync(join(tmpdir(), "a2a-hostile-"));
    const directory = join(root, "inner", "most");
    try {
      const agent = await connect(
        finish({
          artifactId: "../../../artifact",
          name: "../../../named",
          parts: names.map((filename, index) => ({ text: `content ${index}`, filename })),
        }),
      );
      const result = await agent.run("Give me files.");
      const [artifact] = result.artifacts;
      await artifact?.save(directory); // makes it
      writeFileSync(join(directory, "taken.txt"), "mine");
      const paths = (await artifact?.save(directory)) ?? [];
      expect(paths).toHaveLength(names.length);
      expect(new Set(paths).size).toBe(names.length);
      for (const [index, path] of paths.entries()) {
        expect(dirname(resolve(path))).toBe(directory);
        expect(path).not.toMatch(magic);
        expect(readFileSync(path, "utf8")).toBe(`content ${index}`);
      }
      expect(readFileSync(join(directory, "taken.txt"), "utf8")).toBe("mine");
      expect(readdirSync(root)).toEqual(["inner"]);
      expect(readdirSync(join(root, "inner"))).toEqual(["most"]);
      expect(readdirSync(directory).filter((name) => name.startsWith("."))).toEqual([]);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });

  it("of addresses that are no web address are not followed", async () => {
    const directory = join(tmpdir(), `a2a-hostile-${crypto.randomUUID()}`);
    for (const url of ["file:///etc/passwd", "data:text/plain,x", "javascript:alert(1)", "/etc/passwd"]) {
      const agent = await connect(finish({ artifactId: "a", parts: [{ url, filename: "x" }] }));
      const result = await agent.run("Give me a file.");
      expect(await failureOf(result.artifacts[0]?.save(directory) ?? Promise.resolve()), url).toBeInstanceOf(
        UntrustedOutputError,
      );
    }
    expect(existsSync(directory) ? readdirSync(directory) : []).toEqual([]);
  });
});

describe("files that are not what they declare", () => {
  it("never reach a caller who refuses them", async () => {
    const part = { raw: btoa("\x7fELF\x02"), mediaType: "image/png", filename: "cat.png" };
    const agent = await connect(finish({ artifactId: "a", parts: [part] }), {
      inspect(found) {
        if (found.kind === "part" && found.part.mediaType === "image/png" && isProgram(found.part)) {
          throw new Error("a program is declared as a picture");
        }
      },
    });
    const told: unknown[] = [];
    const thrown = await rejectedWith(
      agent.run("Give me a picture.", { onArtifact: (each) => void told.push(each) }),
      UntrustedOutputError,
    );
    expect(String(thrown)).toMatch(/declare/);
    expect(told).toEqual([]);
    expect(await failureOf(agent.getTask("task-1"))).toBeInstanceOf(UntrustedOutputError);
  });

  function isProgram({ content }: Part): boolean {
    return content.case === "raw" && content.value[0] === 0x7f;
  }
});

describe("data that is not what was expected", () => {
  it.each([
    ["of another shape", { data: { rows: "many" } }],
    ["with too many rows", { data: { rows: new Array<number>(1_000).fill(1) } }],
    ["as text that is another shape", { text: '{"__proto__":{"rows":[1]}}' }],
  ])("is refused by the schema it is read with: %s", async (_, part) => {
    const agent = await connect(finish({ artifactId: "a", parts: [part] }));
    const [artifact] = (await agent.run("Give me a table.")).artifacts;
    const thrown = await rejectedWith(artifact?.json(table) ?? Promise.resolve(), UntrustedOutputError);
    expect(String(thrown)).toMatch(/rows/);
  });

  it("is given as what the schema makes of it, when it fits", async () => {
    const agent = await connect(finish({ artifactId: "a", parts: [{ data: { rows: [1, 2], more: true } }] }));
    const [artifact] = (await agent.run("Give me a table.")).artifacts;
    expect(await artifact?.json(table)).toEqual({ rows: [1, 2] });
  });
});

const table = v.object({ rows: v.pipe(v.array(v.number()), v.maxLength(10)) });

describe("sizes", () => {
  it("of one event have a limit", { timeout: 8_000 }, async () => {
    const agent = await connect((call) =>
      sendEvents(call, 1, [wholeTask[0] ?? null, chunkEvent("x".repeat(400_000), false)]),
    );
    const thrown = await failureOf(agent.run("Give me much."));
    expect(String(thrown)).toMatch(/262,?144|256 KiB/);
  });

  it("of all events of a task together have a limit, too", { timeout: 15_000 }, async () => {
    let sent = 0;
    const agent = await connect(
      async (call) => {
        const stream = openStream(call, 1);
        stream.send(wholeTask[0] ?? null, 1);
        const chunk = "x".repeat(100_000);
        for (let id = 2; sent < 2 ** 28; id++) {
          sent += chunk.length;
          if (!(await stream.sendRaw(stream.encode(chunkEvent(chunk, id > 2), id)))) return;
        }
        stream.end();
      },
      { maxTaskBytes: 2 ** 22 },
    );
    expect(await failureOf(agent.run("Give me much, bit by bit."))).toBeInstanceOf(ContentTooLargeError);
    expect(sent).toBeLessThan(2 ** 26);
  });
});

/** A task that is finished at once, with this artifact. */
function finish(artifact: JsonObject): Answer {
  const task = taskJson("TASK_STATE_COMPLETED", { artifacts: [artifact] });
  return (call) => (call.method === "GetTask" ? respondResult(call, task) : sendEvents(call, 1, [{ task }]));
}

function askWith(text: string): Answer {
  const parts = [{ text }, { data: { choices: [text] } }];
  return (call) =>
    sendEvents(call, 1, [
      wholeTask[0] ?? null,
      statusEvent("TASK_STATE_INPUT_REQUIRED", { message: { messageId: "m", role: "ROLE_AGENT", parts } }),
    ]);
}

/** A client of a server that answers so. Both are closed when the test has ended. */
async function connect(answer: Answer, options: ConnectOptions = {}): Promise<AgentClient> {
  const server = await startBrokenServer({ answer });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const agent = await connectAgent(server.url, {
    requestTimeoutMs: 2_000,
    idleTimeoutMs: 2_000,
    maxResponseBytes: 256 * 1024,
    retry: { attempts: 1, initialDelayMs: 1, giveUpAfterMs: 500 },
    ...options,
  });
  onTestFinished(() => agent[Symbol.asyncDispose]());
  return agent;
}
