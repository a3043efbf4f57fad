import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServedAgent, serve } from "@a2a-connect/node";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { field, fieldsOf, shellWords } from "../../test-support/fields.ts";
import { atTerminal, startOnTerminal } from "../../test-support/pseudo-terminal.ts";
import { runCommand, startCommand } from "../../test-support/run-command.ts";
import { showOnTerminal } from "../../test-support/terminal-model.ts";
import { demoAgent } from "../demo/demo-agent.ts";

let agent: ServedAgent;
let hostile: ServedAgent;
let directory: string;

/** Says in every place what no terminal should obey. */
const evil = "\u001b]0;owned\u0007\u001b[2J\u001b[31m\u009b5mred\r\b";
const hostileAgent = defineAgent({
  card: { name: `evil ${evil}`, description: evil },
  async *execute(turn) {
    yield turn.working(`step ${evil}`);
    yield turn.working(`bar ${evil}`, { progress: 0.5 });
    yield turn.append(`name ${evil}`, `chunk ${evil}`);
    yield turn.artifact({ name: "data", data: { [evil]: evil } });
    yield turn.fail(`why ${evil}`, { reason: `reason ${evil}` });
  },
});

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "a2a-chat-"));
  agent = await serve(demoAgent, { store: createMemoryTaskStore() });
  hostile = await serve(hostileAgent, { store: createMemoryTaskStore() });
});

afterAll(async () => {
  await agent.close({ graceMs: 0, timeoutMs: 1_000 });
  await hostile.close({ graceMs: 0, timeoutMs: 1_000 });
  await rm(directory, { recursive: true });
});

/** Id of the task that is at work. */
async function findWorkingTask(): Promise<string> {
  const { stdout } = await runCommand(["task", "list", "-a", agent.url, "-o", "json"]);
  const { tasks } = JSON.parse(stdout) as { tasks: { id: string; status: { state: string } }[] }; // ListTasksResponse
  return tasks.find(({ status }) => status.state === "TASK_STATE_WORKING")?.id ?? "none";
}

describe("a2a chat without a terminal", () => {
  const chat = (lines: readonly string[], ...flags: string[]) =>
    runCommand(["chat", "-a", agent.url, ...flags], {
      stdin: lines.map((line) => `${line}\n`).join(""),
      cwd: directory,
    });

  it("takes each line as a turn, and carries context and waiting task (a2a-cli §8.1)", async () => {
    const { stdout, exitCode } = await chat(["choose", "2", "", "choose", "milk", "tea"]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("One coffee, please.");
    expect(stdout).toContain("Please answer with one of: tea, coffee, water.");
    expect(stdout).toContain("One tea, please.");
    expect(new Set(fieldsOf(stdout).get("Context")).size).toBe(1);
    expect(new Set(fieldsOf(stdout).get("Task")).size).toBe(2);
    expect(field(stdout, "State")).toBe("TASK_STATE_COMPLETED");
  });

  it("writes no control sequences, whatever the agent says", async () => {
    const { stdout, stderr } = await runCommand(["chat", "-a", hostile.url], { stdin: "hello\n" });
    expect(stdout).toContain("TASK_STATE_FAILED");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  });

  it("ends at the end of its input", async () => {
    expect(await chat([])).toEqual({ stdout: "", stderr: "", exitCode: 0 });
  });

  it("sends attachments and saves artifacts", async () => {
    await writeFile(join(directory, "note.txt"), "a note");
    const { stdout, stderr, exitCode } = await chat([
      "/attach note.txt",
      "echo look",
      "file",
      "/save saved",
      "/task",
    ]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("File: note.txt, text/plain, 6 bytes");
    expect(stderr).toContain("note.txt goes with the next message");
    expect((await readdir(join(directory, "saved"))).sort()).toEqual(["cities.csv", "disc.png"]);
    expect(await readFile(join(directory, "saved", "cities.csv"), "utf8")).toContain("Köln");
  });

  it("saves artifacts in a new directory when none is named", async () => {
    const { stdout, stderr } = await chat(["file", "/save", "/save"]);
    const first = join(directory, `task-${field(stdout, "Task")}`);
    expect((await readdir(first)).sort()).toEqual(["cities.csv", "disc.png"]);
    expect((await readdir(`${first}-2`)).sort()).toEqual(["cities.csv", "disc.png"]);
    expect(stderr).toContain(`saved ${join(first, "cities.csv")}\n`);
  });

  it("begins a new conversation, and knows what it cannot do", async () => {
    const { stdout, stderr } = await chat([
      "echo one",
      "/new",
      "echo two",
      "/cancel",
      "/save",
      "/task",
      "/foo",
    ]);
    expect(new Set(fieldsOf(stdout).get("Context")).size).toBe(2);
    expect(stderr.split("\n")).toEqual([
      "a new conversation",
      "there is no task to cancel",
      "there are no artifacts to save",
      "there is no task yet",
      "there is no command /foo; /help lists the commands",
      "",
    ]);
  });

  it("cancels a task that waits", async () => {
    const { stdout } = await chat(["choose", "/cancel"]);
    expect(field(stdout, "State")).toBe("TASK_STATE_CANCELED");
  });

  it("goes on with a task of another command", async () => {
    const asked = await runCommand(["send", "-a", agent.url, "choose"]);
    const { stdout, exitCode } = await chat(["water"], "--task-id", field(asked.stdout, "Task"));
    expect(exitCode).toBe(0);
    expect(stdout).toContain("What may I bring you?");
    expect(stdout).toContain("One water, please.");
  });

  it("ends with the first failure", async () => {
    const { stdout, stderr, exitCode } = await chat(["/attach nowhere.txt", "echo never sent"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("nowhere.txt cannot be read");
    expect(stdout).not.toContain("never sent");
  });

  it("detaches at Ctrl-C, and says how to resume", async () => {
    const command = startCommand(["chat", "-a", agent.url], { stdin: "slow 30\n" });
    await command.waitFor(/second 1 of 30/);
    command.interrupt();
    const { stderr, exitCode } = await command.result;
    expect(exitCode).toBe(130);
    const [, resume = ""] = /to follow it again: a2a (.+)/.exec(stderr) ?? [];
    expect(shellWords(resume)).toEqual(
      expect.arrayContaining(["task", "subscribe", "-a", agent.url, "--after"]),
    );
    const taskId = shellWords(resume).at(-1) ?? "";
    await runCommand(["task", "cancel", "-a", agent.url, taskId]);
    const replayed = await runCommand(shellWords(resume));
    expect(field(replayed.stdout, "State")).toBe("TASK_STATE_CANCELED");
  });

  it("is refused with -o json", async () => {
    const { stdout, exitCode } = await chat([], "-o", "json");
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "A2ACLI_ERR_USAGE" } });
  });
});

describe("a2a chat at a terminal", atTerminal, () => {
  const plain = { env: { NO_COLOR: "1" } };

  it("shows streamed artifacts with progress, asks, and ends at Ctrl-D", async () => {
    await using chat = startOnTerminal(["chat", "-a", agent.url], { columns: 60 });
    await chat.answer("you › ", "story\r");
    await chat.answer("50% telling");
    await chat.answer("you › ", "choose\r");
    await chat.answer("2. coffee");
    await chat.answer("answer › ", "2\r");
    await chat.answer("you › ", "\u0004");
    expect(await chat.exitCode).toBe(0);
    const rows = showOnTerminal(chat.sent, 60).map((row) => row.replace(/[0-9a-f-]{36}/, "ID"));
    expect(rows).toEqual([
      "a2a demo agent",
      "/help lists the commands, Ctrl-D ends the chat",
      "you › story",
      "Task: ID",
      "Context: ID",
      "State: submitted",
      "Artifact: story",
      "  Once a task was born in a log.",
      "  It was small and knew one message only.",
      "  Then it began to work,",
      "  and every word it said was written down",
      "  before anybody heard it.",
      "  One day the power failed.",
      "  When the light came back,",
      "  the task read what it had written",
      "  and went on with the next word,",
      "  as if nothing had happened.",
      "State: completed",
      "Text:",
      "The end.",
      "",
      "you › choose",
      "Task: ID",
      "Context: ID",
      "State: submitted",
      "What may I bring you?",
      "  1. tea",
      "  2. coffee",
      "  3. water",
      "  answer with a number, or in words",
      "answer › 2",
      "State: working",
      "Artifact: order (artifact-1)",
      "  One coffee, please.",
      "State: completed",
      "you ›",
    ]);
  });

  it("takes commands and lines while a task is at work", async () => {
    await using chat = startOnTerminal(["chat", "-a", agent.url], plain);
    await chat.answer("you › ", "slow 30\r");
    await chat.answer("second 1 of 30", "echo later\r");
    await chat.answer("your message is sent when the task has ended or waits for you", "/task\r");
    await chat.answer("State: working", "/new\r");
    await chat.answer("a task is running", "/cancel\r");
    await chat.answer("State: canceled");
    await chat.answer("later");
    await chat.answer("you › ", "/quit\r");
    expect(await chat.exitCode).toBe(0);
  });

  it("writes nothing into a line that is being typed", async () => {
    await using chat = startOnTerminal(["chat", "-a", agent.url], plain);
    await chat.answer("you › ", "slow 30\r");
    await chat.answer("second 1 of 30", "/canc");
    await chat.answer("canc");
    const typed = chat.sent.length;
    const watching = startCommand(["task", "subscribe", "-a", agent.url, await findWorkingTask()]);
    await watching.waitFor(/second 3 of 30/); // the chat has been told, too
    expect(chat.sent.slice(typed)).toBe("");
    await chat.answer("", "el\r");
    await chat.answer("State: canceled");
    await chat.answer("you › ", "\u0003");
    expect(await chat.exitCode).toBe(0);
    await watching.result;
  });

  it("goes on where a line was given up", async () => {
    await using chat = startOnTerminal(["chat", "-a", agent.url], plain);
    await chat.answer("you › ", "slow 30\r");
    await chat.answer("second 1 of 30", "#\u007f");
    await chat.answer("second 2 of 30", "\r");
    await chat.answer("second 3 of 30", "/cancel\r");
    await chat.answer("State: canceled");
    await chat.answer("you › ", "\u0004");
    expect(await chat.exitCode).toBe(0);
    const rows = showOnTerminal(chat.sent, 80);
    expect(rows.filter((row) => row.includes("#"))).toEqual([]);
    expect(rows.filter((row) => row.startsWith("›"))).toEqual(["›", "› /cancel"]);
  });

  it("detaches at Ctrl-C and says how to resume", async () => {
    await using chat = startOnTerminal(["chat", "-a", agent.url], plain);
    await chat.answer("you › ", "slow 30\r");
    await chat.answer("second 1 of 30", "\u0003");
    await chat.answer("goes on");
    expect(await chat.exitCode).toBe(130);
    expect(chat.sent).toMatch(/to follow it again: a2a task subscribe -a \S+ --after \d+ [0-9a-f-]{36}/);
  });

  it("waits at Enter until an agent has its credentials from elsewhere", async () => {
    await using chat = startOnTerminal(["chat", "-a", agent.url], plain);
    await chat.answer("you › ", "sign-in\r");
    await chat.answer("press Enter to wait");
    await chat.answer("answer › ", "\r");
    const [, taskId = ""] = /Task: ([0-9a-f-]{36})/.exec(chat.sent) ?? [];
    await runCommand(["send", "-a", agent.url, "--task-id", taskId, "done"]);
    await chat.answer("Thank you, you are in.");
    await chat.answer("you › ", "\u0004");
    expect(await chat.exitCode).toBe(0);
  });

  it("goes on after a turn that failed", async () => {
    // As wide as the error is long: the path in it is as long as the temporary folder's.
    await using chat = startOnTerminal(["chat", "-a", agent.url], { ...plain, columns: 400 });
    await chat.answer("you › ", "/attach nowhere.txt\r");
    await chat.answer("nowhere.txt cannot be read");
    await chat.answer("you › ", "fail\r");
    await chat.answer("Reason: demo-failure");
    await chat.answer("you › ", "\u0004");
    expect(await chat.exitCode).toBe(0);
  });

  it("sends no control sequence of the agent's to the terminal", async () => {
    await using chat = startOnTerminal(["chat", "-a", hostile.url], plain);
    await chat.answer("you › ", "hello\r");
    await chat.answer("you › ", "\u0004");
    expect(await chat.exitCode).toBe(0);
    expect(chat.sent).toContain("State: failed");
    const rows = showOnTerminal(chat.sent, 80); // throws at anything that is not our own
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about
    expect(rows.join("")).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });

  it("does not wait for a keyboard whose user would not see the questions (a2a-cli §11.2)", async () => {
    const file = join(directory, "stdout.txt");
    await using chat = startOnTerminal(["chat", "-a", agent.url], { stdout: file });
    await chat.answer("chat does not read the keyboard");
    expect(await chat.exitCode).toBe(0);
    expect(await readFile(file, "utf8")).toBe("");
  });
});
