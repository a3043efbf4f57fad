// What `kill -9` does to a task of each kind of executor, with the reference agent.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findA2AError } from "@a2a-connect/core";
import { type Task, TaskState } from "@a2a-connect/proto";
import { reasonOf, say, taskOf, wordsOf } from "@a2a-connect/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { startMortalAgent } from "./mortal-agent.ts";
import { transcriptOf } from "./transcript.ts";

const state = ({ status }: Task) => status?.state;
const texts = ({ artifacts }: Task) =>
  artifacts.map(({ parts }) => parts.map(({ content }) => content.value).join(""));

/** A file that is gone after the test. */
function temporaryFile(): string {
  const directory = mkdtempSync(join(tmpdir(), "a2a-durable-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, "side-effects.txt");
}

describe("a durable task that is killed", () => {
  it("goes on, and each finished step's side effect is done once: steps 5 1000, killed twice", async () => {
    const file = temporaryFile();
    const agent = await startMortalAgent("--side-effects", file);
    const id = await agent.begin("steps 5 1000");
    const whole = agent.follow(id);
    for (const seen of [2, 4]) {
      await agent.until(id, seen); // the first is the creation, the others are steps; a pause follows each
      await agent.kill();
    }
    const events = await whole;
    expect(wordsOf(events)).toEqual([
      "task submitted",
      "artifact steps",
      ...Array(4).fill("artifact steps +"),
      "completed",
    ]);
    expect(readFileSync(file, "utf8")).toBe([1, 2, 3, 4, 5].map((step) => `${id} ${step}\n`).join(""));
    const task = await (await agent.client()).getTask({ id });
    expect(texts(task)).toEqual(["step 1 of 5\nstep 2 of 5\nstep 3 of 5\nstep 4 of 5\nstep 5 of 5\n"]);
    expect(task.status?.message?.parts[0]?.content.value).toBe("5 steps done");
  }, 60_000);

  it("is answered afterwards, once, and killed again after that says the same", async () => {
    const agent = await startMortalAgent();
    const id = await agent.begin("ask What is your name?");
    await agent.until(id, 2);
    await agent.kill();
    const answers = await Promise.allSettled(
      ["Ada", "Eve"].map(async (name) => (await agent.client()).sendMessage(say(name, { taskId: id }))),
    );
    const [taken, ...others] = answers.flatMap((answer) =>
      answer.status === "fulfilled" ? [taskOf(answer.value)] : [],
    );
    const refused = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
    expect(others).toEqual([]);
    expect(refused.map((error) => findA2AError(error)?.reason)).toEqual(["UNSUPPORTED_OPERATION"]);
    expect(taken).toMatchObject({ id, status: { state: TaskState.COMPLETED } });
    await agent.kill();
    const task = await (await agent.client()).getTask({ id });
    expect(task).toEqual(taken);
    expect(["Ada", "Eve"]).toContain(texts(task)[0]);
  }, 60_000);

  it.each([
    ["auth", "done", "TASK_STATE_AUTH_REQUIRED"],
    ["ask Why?", "because", "TASK_STATE_INPUT_REQUIRED"],
  ])(
    "has the transcript of an undisturbed run: %s",
    async (command, answer, waiting) => {
      const agent = await startMortalAgent();
      const run = async (kill: () => Promise<void>) => {
        const id = await agent.begin(command);
        const whole = agent.follow(id);
        await agent.until(id, 2);
        await kill();
        await (await agent.client()).sendMessage(say(answer, { taskId: id }));
        return transcriptOf(await whole);
      };
      const disturbed = await run(() => agent.kill());
      expect(disturbed).toEqual(await run(async () => {}));
      expect(disturbed[1]).toContain(waiting);
    },
    60_000,
  );

  it("is canceled while it sleeps, after a kill", async () => {
    const agent = await startMortalAgent();
    const id = await agent.begin("sleep 3600000");
    await agent.until(id, 2);
    await agent.kill();
    const client = await agent.client();
    expect(state(await client.getTask({ id }))).toBe(TaskState.WORKING);
    const task = await client.cancelTask({ id });
    expect([state(task), reasonOf(task)]).toEqual([TaskState.CANCELED, "canceled"]);
  }, 60_000);

  it("replays as the conformance kit's rows do", async () => {
    const agent = await startMortalAgent();
    const send = async (messageId: string, taskId = "") =>
      taskOf(await (await agent.client()).sendMessage(say("hello", { messageId, taskId })));
    const asked = await send("tck-input-required-1");
    await agent.kill();
    expect(state(await send("tck-input-required-2", asked.id))).toBe(TaskState.INPUT_REQUIRED);
    await agent.kill();
    const done = await send("tck-complete-task-3", asked.id);
    expect([state(done), done.status?.message?.parts[0]?.content.value]).toEqual([
      TaskState.COMPLETED,
      "Hello from TCK",
    ]);
  }, 60_000);
});

describe("a turn that is killed", () => {
  it("ends FAILED with reason `interrupted`, and keeps what it gave: turn T", async () => {
    const agent = await startMortalAgent();
    const id = await agent.begin("turn slowly");
    const whole = agent.follow(id);
    await agent.until(id, 4);
    await agent.kill();
    const events = wordsOf(await whole);
    expect(events.slice(0, 4)).toEqual([
      "task submitted",
      "artifact turn",
      "artifact turn +",
      "artifact turn +",
    ]);
    expect(events.at(-1)).toBe("failed");
    expect(events.length).toBeLessThan(12);
    const task = await (await agent.client()).getTask({ id });
    expect(reasonOf(task)).toBe("interrupted");
    expect(texts(task)[0]).toMatch(/^slowly 1\nslowly 2\nslowly 3\n/);
  }, 60_000);

  it("begins again, and its artifact with it, where its skill says so: turn-restart T", async () => {
    const agent = await startMortalAgent();
    const id = await agent.begin("turn-restart slowly");
    const whole = agent.follow(id);
    await agent.until(id, 4);
    await agent.kill();
    const attempt = ["artifact turn", ...Array(9).fill("artifact turn +"), "completed"];
    const events = wordsOf(await whole);
    expect(events.slice(0, 4)).toEqual(["task submitted", ...attempt.slice(0, 3)]);
    expect(events.slice(-11)).toEqual(attempt);
    expect(events.length).toBeGreaterThanOrEqual(15);
    const task = await (await agent.client()).getTask({ id });
    expect(texts(task)).toEqual([Array.from({ length: 10 }, (_, chunk) => `slowly ${chunk + 1}\n`).join("")]);
  }, 60_000);
});
