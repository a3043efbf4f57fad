import { mkdir, mkdtemp, readdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { installPackages } from "../../test-support/bundled-program.ts";
import { field } from "../../test-support/fields.ts";
import { atTerminal, startOnTerminal } from "../../test-support/pseudo-terminal.ts";
import { type RunningCommand, runCommand, spawnCommand } from "../../test-support/run-command.ts";

let directory: string;

beforeAll(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), "a2a-serve-")));
  await installPackages(directory, ["@a2a-connect/server"]);
  // As in a folder with nothing in it, whichever folders lie above: a file without a type decides none.
  await write("package.json", "{}");
});

afterAll(() => rm(directory, { recursive: true }));

const write = (name: string, content: string) => writeFile(join(directory, name), content);

/** An agent that answers with `words`. */
const agentModule = (words: string) => `
import { defineAgent } from "@a2a-connect/server";
export default defineAgent({
  card: { name: "Parrot", description: "Says one thing." },
  *execute(turn) {
    if (turn.text === "throw") yield turn.working();
    if (turn.text === "throw") throw new Error("thrown by the agent");
    if (turn.text === "ask") return yield turn.inputRequired("Yes?");
    yield turn.reply(${words});
  },
});
`;

const running: RunningCommand[] = [];

const serve = (...args: string[]) => {
  const server = spawnCommand(["serve", "--port", "0", ...args], { cwd: directory });
  running.push(server);
  return server;
};

/** The same on a machine that has no watches left for these folders. */
const serveWithoutWatches = (folders: RegExp, ...args: string[]) => {
  const program = `
    import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    const { watch } = fs;
    fs.watch = (folder, ...rest) => {
      if (${folders}.test(folder)) throw new Error("ENOSPC: no watches are left");
      return watch(folder, ...rest);
    };
    syncBuiltinESMExports();
  `;
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(program)}` };
  const server = spawnCommand(["serve", "--port", "0", ...args], { cwd: directory, env });
  running.push(server);
  return server;
};

afterEach(async () => {
  for (const server of running.splice(0)) {
    server.interrupt(); // one that a failed test has left
    await server.result;
  }
});
const cardUrl = /Agent Card: (http:\S+)\/\.well-known\/agent-card\.json/;

describe("a2a serve", () => {
  it("serves what a module exports, says where, and stops in an orderly way", async () => {
    await write("agent.ts", agentModule('"hello" as string'));
    const server = serve("agent.ts", "--store", "memory");
    const [, url = ""] = await server.waitFor(cardUrl);
    await server.waitFor(/a2a chat -a/);
    const { stdout } = await runCommand(["send", "-a", url, "hi"]);
    expect(stdout).toContain("hello");
    server.interrupt();
    const result = await server.result;
    expect(result.exitCode).toBe(0);
    expect(result.stdout).toContain(`a2a send -a ${url} hello`);
  });

  for (const [type, file] of [
    ["commonjs", "agent.mts"],
    ["module", "agent.ts"],
  ] as const) {
    it(`serves a module of a package of type ${type}`, async () => {
      await mkdir(join(directory, type));
      await write(`${type}/package.json`, JSON.stringify({ type }));
      await write(`${type}/${file}`, agentModule('"hello" as string'));
      const server = serve(`${type}/${file}`, "--store", "memory");
      await server.waitFor(cardUrl);
      server.interrupt();
      expect((await server.result).exitCode).toBe(0);
    });
  }

  it("keeps tasks over a restart in the file that --db names", async () => {
    await write("agent.ts", agentModule('"hello"'));
    const first = serve("agent.ts", "--db", "own.sqlite");
    const [, url = ""] = await first.waitFor(cardUrl);
    const { stdout } = await runCommand(["send", "-a", url, "ask"]);
    first.interrupt();
    await first.result;
    const second = serve("agent.ts", "--db", "own.sqlite");
    const [, urlNow = ""] = await second.waitFor(cardUrl);
    const found = await runCommand(["task", "get", "-a", urlNow, field(stdout, "Task")]);
    expect(field(found.stdout, "State")).toBe("TASK_STATE_INPUT_REQUIRED");
    second.interrupt();
    expect((await second.result).exitCode).toBe(0);
  });

  it("tells its author what the agent throws, and nobody else", async () => {
    await write("agent.ts", agentModule('"hello"'));
    const server = serve("agent.ts", "--store", "memory");
    const [, url = ""] = await server.waitFor(cardUrl);
    const sent = await runCommand(["send", "-a", url, "throw"]);
    expect(sent.stdout + sent.stderr).not.toContain("thrown by");
    await server.waitFor(/thrown by the agent[\s\S]+agent\.ts:/);
    server.interrupt();
    await server.result;
  });

  it("prints its card with -o json", async () => {
    await write("agent.ts", agentModule('"hello"'));
    const server = serve("agent.ts", "--store", "memory", "-o", "json");
    await server.waitFor(/\n\}\n/);
    server.interrupt();
    const { stdout } = await server.result;
    expect(JSON.parse(stdout)).toMatchObject({ name: "Parrot" });
  });

  it("answers callers of A2A 0.3 no more where it is told so", async () => {
    await write("agent.ts", agentModule('"hello"'));
    await write("two.ts", `import agent from "./agent.ts";\nexport default { one: agent, other: agent };`);
    for (const file of ["agent.ts", "two.ts"]) {
      const server = serve(file, "--store", "memory", "--no-older-versions");
      const [, url = ""] = await server.waitFor(cardUrl);
      const card = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
      expect(card, file).toHaveProperty("supportedInterfaces");
      expect(card, file).not.toHaveProperty("preferredTransport");
      server.interrupt();
      await server.result;
    }
  });

  it("believes what a trusted proxy says of the URL that callers reach", async () => {
    await write("agent.ts", agentModule('"hello"'));
    const headers = { "x-forwarded-proto": "https", "x-forwarded-host": "agents.example.org" };
    for (const flags of [[], ["--trusted-proxy", "192.0.2.1", "--trusted-proxy", "loopback"]]) {
      const server = serve("agent.ts", "--store", "memory", ...flags);
      const [, url = ""] = await server.waitFor(cardUrl);
      const card = await (await fetch(`${url}/.well-known/agent-card.json`, { headers })).text();
      expect(card.includes("https://agents.example.org/")).toBe(flags.length > 0);
      server.interrupt();
      await server.result;
    }
  });

  it("serves several agents of one module, each below its name", async () => {
    await write(
      "several.ts",
      `const agent = (name: string, words: string) =>
  ({ card: { name }, *execute(turn: { reply(words: string): never }) { yield turn.reply(words); } });
export default [agent("Parrot", "hello"), agent("Old owl", "good night")];`,
    );
    const server = serve("several.ts", "--store", "memory");
    const [, owl = ""] = await server.waitFor(/Agent Card: (http:\S+\/agents\/old-owl)\/\.well-known/);
    await server.waitFor(/Catalog: http:\S+\/\.well-known\/ai-catalog\.json/);
    await server.waitFor(/a2a chat -a \S+\/agents\/parrot\n/);
    expect((await runCommand(["send", "-a", owl, "hi"])).stdout).toContain("good night");
    const parrot = owl.replace("old-owl", "parrot");
    expect((await runCommand(["send", "-a", parrot, "hi"])).stdout).toContain("hello");
    server.interrupt();
    expect((await server.result).exitCode).toBe(0);
  });

  it("prints the cards of several agents with -o json, and keeps their tasks in a file each", async () => {
    const { agent, other } = { agent: "{ name: 'A' }", other: "{ name: 'B' }" };
    await write(
      "several.ts",
      `export default { one: { card: ${agent}, execute: () => [] }, two: { card: ${other}, execute: () => [] } };`,
    );
    const server = serve("several.ts", "-o", "json");
    await server.waitFor(/\n\}\n/);
    server.interrupt();
    const { stdout } = await server.result;
    expect(JSON.parse(stdout)).toMatchObject({ agents: { one: { name: "A" }, two: { name: "B" } } });
    expect(await readdir(join(directory, ".a2a"))).toEqual(
      expect.arrayContaining(["one.sqlite", "two.sqlite"]),
    );
  });

  it("does not put the tasks of several agents into one file", async () => {
    const { stderr, exitCode } = await serve("several.ts", "--db", "all.sqlite").result;
    expect(exitCode).toBe(2);
    expect(stderr).toContain("all.sqlite is one file, but each of 2 agents needs its own");
  });

  it("does what a2a.config.yaml says, and the command line before it", async () => {
    await write("agent.ts", agentModule('"hello"'));
    await write("a2a.config.yaml", "server:\n  url: https://parrot.example\n  store: memory\n");
    const server = serve("agent.ts", "-o", "json");
    await server.waitFor(/\n\}\n/);
    server.interrupt();
    const { stdout } = await server.result;
    await rm(join(directory, "a2a.config.yaml"));
    expect(stdout).toContain('"url": "https://parrot.example/rpc"');
  });

  it("starts again with --watch whenever something changes, also after a mistake", async () => {
    await write("words.ts", 'export const words: string = "one";\n');
    await write("agent.ts", agentModule("words").replace("\n", '\nimport { words } from "./words.ts";\n'));
    const server = serve("agent.ts", "--watch", "--store", "memory");
    const [, first = ""] = await server.waitFor(cardUrl);
    expect((await runCommand(["send", "-a", first, "hi"])).stdout).toContain("one");
    await write("words.ts", "export const words: string = ;\n");
    await server.waitFor(/words\.ts:1: .*the server has ended/s);
    // However long the mistake stays: by now, a command that does not wait for files has nothing left to do.
    expect((await runCommand(["send", "-a", first, "hi"])).exitCode).toBe(3);
    await write("words.ts", 'export const words: string = "two";\n');
    const [, second = ""] = await server
      .waitFor(new RegExp(`${cardUrl.source}[^]*words\\.ts:1: [^]*${cardUrl.source}`))
      .then(([, , url = ""]) => ["", url]);
    expect((await runCommand(["send", "-a", second, "hi"])).stdout).toContain("two");
    server.interrupt();
    expect((await server.result).exitCode).toBe(0);
  }, 60_000);

  it("starts again with --watch each time that an editor saves by renaming a new file", async () => {
    const save = async (words: string) => {
      await write("words.ts~", `export const words: string = "${words}";\n`);
      await rename(join(directory, "words.ts~"), join(directory, "words.ts"));
    };
    await save("one");
    await write("agent.ts", agentModule("words").replace("\n", '\nimport { words } from "./words.ts";\n'));
    const server = serve("agent.ts", "--watch", "--store", "memory");
    let starts = cardUrl.source;
    for (const words of ["one", "two", "three"]) {
      if (words !== "one") await save(words);
      const url = (await server.waitFor(new RegExp(starts))).at(-1);
      expect((await runCommand(["send", "-a", url ?? "", "hi"])).stdout).toContain(words);
      starts = `${starts}[^]*words\\.ts has changed[^]*${cardUrl.source}`;
    }
    server.interrupt();
    const { stderr, exitCode } = await server.result;
    expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining("the server has ended")]);
  }, 60_000);

  it("goes on with --watch where a folder cannot be watched, and says once which, and why", async () => {
    await mkdir(join(directory, "far"));
    await write("far/words.ts", 'export const words: string = "one";\n');
    const module = agentModule("words").replace("\n", '\nimport { words } from "./far/words.ts";\n');
    await write("agent.ts", module);
    const server = serveWithoutWatches(/far$/, "agent.ts", "--watch", "--store", "memory");
    const [, first = ""] = await server.waitFor(cardUrl);
    expect((await runCommand(["send", "-a", first, "hi"])).stdout).toContain("one");
    await write("far/words.ts", 'export const words: string = "two";\n');
    await write("agent.ts", module);
    const again = new RegExp(`agent\\.ts has changed[^]*${cardUrl.source}`);
    const [, second = ""] = await server.waitFor(again);
    expect((await runCommand(["send", "-a", second, "hi"])).stdout).toContain("two");
    server.interrupt();
    const { stderr, exitCode } = await server.result;
    expect([exitCode, stderr.match(/^warning: .*$/gm)]).toEqual([
      0,
      ["warning: changes in far are not noticed: ENOSPC: no watches are left"],
    ]);
  }, 60_000);

  it("ends with --watch when the server has ended, where no change of a file would be noticed", async () => {
    await write("broken.ts", "const a = 1;\nconst a = 2;");
    for (const module of ["broken.ts", "nowhere.ts"]) {
      const { stderr, exitCode } = await serveWithoutWatches(/./, module, "--watch").result;
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(module)]);
      expect(stderr).not.toContain("starts again");
    }
  });

  it("ends with the command that runs it with --watch, also where that was killed", async () => {
    await write("agent.ts", agentModule('"hello"'));
    const server = serve("agent.ts", "--watch", "--store", "memory");
    await server.waitFor(cardUrl);
    server.interrupt("SIGKILL");
    await server.result; // there is one when no process is left that could write to its output
  });

  it("lets an agent with --watch have workers and processes of its own", async () => {
    await write("worker.ts", "process.exitCode = 7;\n");
    const module = `
import { fork } from "node:child_process";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
const file = new URL("./worker.ts", import.meta.url);
const messages: unknown[] = [];
const ends = await Promise.all([
  once(new Worker(file), "exit"),
  once(fork(file).on("message", (message) => messages.push(message)), "exit"),
]);
`;
    await write("agent.ts", `${module}${agentModule("JSON.stringify([ends, messages])")}`);
    const server = serve("agent.ts", "--watch", "--store", "memory");
    const [, url = ""] = await server.waitFor(cardUrl);
    expect((await runCommand(["send", "-a", url, "hi"])).stdout).toContain("[[[7],[7,null]],[]]");
  });

  it("stops in an orderly way when all of it is told to by a terminal", atTerminal, async () => {
    await write("agent.ts", agentModule('"hello"'));
    await using server = startOnTerminal(
      ["serve", "agent.ts", "--watch", "--port", "0", "--store", "memory"],
      { cwd: directory },
    );
    await server.answer("Ctrl-C stops it", "\u0003");
    expect(await server.exitCode).toBe(0);
  });
});

describe("a2a serve refuses", () => {
  it("a module that cannot be loaded, by file and line", async () => {
    await write("broken.ts", "const a = 1;\nconst a = 2;");
    const { stdout, stderr, exitCode } = await serve("broken.ts").result;
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(stderr).toContain("broken.ts:2: Identifier 'a' has already been declared");
  });

  it("a file that is not there", async () => {
    const { stderr, exitCode } = await serve("nowhere.ts").result;
    expect(stderr).toContain("there is no file nowhere.ts");
    expect(exitCode).toBe(2);
  });

  it("a port that is in use, and says what to do", async () => {
    await write("agent.ts", agentModule('"hello"'));
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, "127.0.0.1", () => {
        const address = other.address();
        resolve(typeof address === "object" && address !== null ? address.port : 0);
      });
    });
    const { stderr, exitCode } = await serve("agent.ts", "--store", "memory", "--port", String(port)).result;
    other.close();
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`port ${port} is in use by another process`);
    expect(stderr).toContain("hint: choose another with --port");
  });

  for (const [flags, sentence] of [
    [["--port", "http"], "It must be a whole number from 0 to 65535."],
    [["--port", "65536"], "It must be a whole number from 0 to 65535."],
    [["--store", "tape"], "Allowed choices are sqlite, memory."],
    [["--store", "memory", "--db", "x"], "cannot be used with option"],
    [["--store", "memory", "--trusted-proxy", "proxy.example"], "a trusted proxy is an address, a network"],
    [["--watch", "-o", "json"], "--watch and -o json contradict each other"],
  ] as const) {
    it(flags.join(" "), async () => {
      const { stdout, stderr, exitCode } = await runCommand(["serve", "agent.ts", ...flags], {
        cwd: directory,
      });
      expect(exitCode).toBe(2);
      expect(stdout + stderr).toContain(sentence);
    });
  }
});
