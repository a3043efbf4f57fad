import { json, text } from "@a2a-connect/core";
import { Role, TaskSchema, TaskState } from "@a2a-connect/proto";
import { say } from "@a2a-connect/testing";
import { toJsonString } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { anonymous, beginDurable, beginTask, createServers } from "../../test-support/durable-servers.ts";
import { endOf, sendTask, stateOf, subscribe } from "../../test-support/tasks.ts";
import type { TurnAgent } from "../agent/agent-definition.ts";
import type { Grant } from "../agent/grant.ts";
import type { AuthRequest } from "../agent/question.ts";

const grant: Grant = { reference: "vault/7", scopes: ["mail.read"], expiresAt: 5_000 };

/** The name of a task, as its code has it. */
const named = (taskId: string) => ({ taskId, ...anonymous });

const begin = (request: string | AuthRequest = "Sign in.") =>
  beginDurable(async function* (task) {
    const { grant: given, message } = yield* task.askForAuth(request);
    const how = message.parts.length === 0 ? "without" : "with";
    yield task.complete(`${given?.scopes?.join() ?? "nothing"} was granted, ${how} a message`);
  });

describe("a request for credentials", () => {
  it("says where to sign in: in its text, unless that has the link, and as data for programs", async () => {
    const hint = { scheme: "mail", url: "https://login.example/start" };
    for (const [words, shown] of [
      ["Sign in:", [text("Sign in:"), text("\nhttps://login.example/start")]],
      ["Go to https://login.example/start", [text("Go to https://login.example/start")]],
    ] as const) {
      const { process, id } = await begin({ text: words, ...hint });
      const task = await process.client.getTask({ id });
      expect(task.status?.state).toBe(TaskState.AUTH_REQUIRED);
      expect(task.status?.message?.parts).toMatchObject([...shown, json({ auth: hint })]);
    }
  });

  it("goes on with a grant: subscribers see it work, and no caller sees what was granted", async () => {
    const { process, id, clock } = await begin();
    const reader = subscribe(process.client, id);
    await clock.settle();
    await process.server.grant(named(id), grant);
    await reader.ended;
    const states = reader.events.map(({ payload }) =>
      payload.case === "task" || payload.case === "statusUpdate" ? payload.value.status?.state : undefined,
    );
    expect(states).toEqual([TaskState.AUTH_REQUIRED, TaskState.WORKING, TaskState.COMPLETED]);
    const task = await process.client.getTask({ id });
    expect(task.status?.message?.parts).toMatchObject([text("mail.read was granted, without a message")]);
    expect(task.history.filter(({ role }) => role === Role.USER).length).toBe(1); // the message that began it
    expect(toJsonString(TaskSchema, task) + JSON.stringify(reader.events, noBigInt)).not.toContain("vault/7");
  });

  it("is told a message from a grant, and may take grants alone", async () => {
    const lenient = await begin();
    await sendTask(lenient.process.client, say("done", { taskId: lenient.id }));
    const { status } = await lenient.process.client.getTask({ id: lenient.id });
    expect(status?.message?.parts).toMatchObject([text("nothing was granted, with a message")]);

    const strict = await begin({ text: "Sign in.", requireGrant: true });
    const asked = await sendTask(strict.process.client, say("done", { taskId: strict.id }));
    expect(asked.status).toMatchObject({
      state: TaskState.AUTH_REQUIRED,
      message: { parts: [text("This message does not sign you in. Sign in.")] },
    });
    await strict.process.server.grant(named(strict.id), { reference: "vault/8" });
    await strict.clock.settle();
    expect(await stateOf(strict.process.client, strict.id)).toBe(TaskState.COMPLETED);
  });

  it("keeps its grant over the end of the process, before and after it was given", async () => {
    const { process, id, open, clock } = await beginDurable(async function* (task) {
      const first = yield* task.askForAuth({ text: "Sign in.", choices: ["no message fits"] });
      const second = yield* task.ask("Which?");
      yield task.complete(`${first.grant?.reference} ${second.text} ${second.grant}`);
    });
    process.kill();
    const next = await open();
    await next.server.grant(named(id), grant);
    await clock.settle();
    expect(await stateOf(next.client, id)).toBe(TaskState.INPUT_REQUIRED);
    next.kill();
    const last = await open();
    await sendTask(last.client, say("this", { taskId: id }));
    const task = await last.client.getTask({ id });
    expect(task.status?.message?.parts).toMatchObject([text("vault/7 this undefined")]);
  });

  it("begins the next turn with the grant, which a restart begins again", async () => {
    const seen: unknown[] = [];
    let isSlow = true;
    const agent: TurnAgent = {
      card: { name: "Turns" },
      recovery: "restart",
      async *execute(turn) {
        if (turn.grant === undefined && turn.task === undefined) {
          yield turn.authRequired("Sign in.", { url: "https://login.example/" });
          return;
        }
        seen.push([turn.grant, turn.message.parts.length, turn.attempt, turn.principal]);
        yield turn.working("at work");
        if (isSlow) await new Promise(() => {});
      },
    };
    const servers = createServers(agent);
    const { process, id } = await beginTask(servers);
    await process.server.grant(named(id), grant);
    await servers.clock.settle();
    process.kill();
    isSlow = false;
    const next = await servers.open();
    await servers.clock.settle();
    expect(seen).toEqual([
      [grant, 0, 1, "anonymous"],
      [grant, 0, 2, "anonymous"],
    ]);
    expect(await stateOf(next.client, id)).toBe(TaskState.COMPLETED);
  });

  it("takes one answer: of two grants and a message at once, one passes", async () => {
    const { process, id, clock } = await begin();
    const results = await Promise.allSettled([
      process.server.grant(named(id), grant),
      process.server.grant(named(id), { reference: "vault/9" }),
      process.client.sendMessage(say("me, too", { taskId: id })),
    ]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected", "rejected"]);
    await clock.settle();
    expect(await stateOf(process.client, id)).toBe(TaskState.COMPLETED);
  });

  it("refuses a grant that nothing waits for, for a foreign task, or that is not valid", async () => {
    const { process, id, clock } = await begin();
    const { server } = process;
    await expect(server.grant({ ...named(id), principal: "eve" }, grant)).rejects.toThrow(
      "there is no such task",
    );
    await expect(server.grant({ ...named(id), tenant: "other" }, grant)).rejects.toThrow(
      "there is no such task",
    );
    for (const [invalid, member] of [
      [{ reference: "" }, "grant.reference"],
      [{ reference: "x".repeat(2_049) }, "grant.reference"],
      [{ reference: "x", scopes: ["a".repeat(257)] }, "grant.scopes"],
      [{ reference: "x", scopes: Array.from({ length: 101 }, String) }, "grant.scopes"],
      [{ reference: "x", expiresAt: Number.NaN }, "grant.expiresAt"],
    ] as const) {
      await expect(server.grant(named(id), invalid)).rejects.toThrow(member);
    }
    await server.grant(named(id), grant);
    await clock.settle();
    await expect(server.grant(named(id), grant)).rejects.toThrow("does not wait for credentials");
  });

  it("has no time limit any more after its grant", async () => {
    const { process, id, clock } = await beginDurable(async function* (task) {
      yield* task.askForAuth({ text: "Sign in.", timeoutMs: 1_000 });
      await task.sleep(60_000);
    });
    await process.server.grant(named(id), grant);
    await clock.advance(30_000);
    expect(await stateOf(process.client, id)).toBe(TaskState.WORKING);
    await clock.advance(40_000);
    expect(endOf(await process.client.getTask({ id }))[0]).toBe(TaskState.COMPLETED);
  });
});

function noBigInt(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
