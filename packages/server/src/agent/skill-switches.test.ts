import { TaskState } from "@a2a-connect/proto";
import { say, taskOf } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { startScripted } from "../../test-support/agents.ts";
import { endOf, lifecycle } from "../../test-support/tasks.ts";
import { createSkillSwitches } from "./skill-switches.ts";

const dig = { id: "dig", name: "Dig", description: "Digs." };
const fly = { id: "fly", name: "Fly", description: "Flies." };
const secret = { id: "spy", name: "Spy", description: "Spies." };

async function scripted(limits = {}) {
  const card = { name: "Agent", version: "1.2.0", skills: [dig, fly] };
  const harness = await startScripted(
    { card, route: ({ parts }) => (parts[0]?.content.value === "route me" ? "dig" : undefined) },
    { limits, extendedCard: { find: () => ({ ...card, skills: [dig, fly, secret] }), open: true } },
  );
  const { client, server } = harness;
  return {
    ...harness,
    skills: server.skills,
    sendTo: (skill: string, words = "go") => client.sendMessage(say(words, lifecycle({ skill }))),
    async getCard() {
      const { status, header } = await server.handle({
        httpVersion: "1.1",
        url: "http://localhost/.well-known/agent-card.json",
        method: "GET",
        header: new Headers(),
        body: (async function* () {})(),
        signal: new AbortController().signal,
      });
      return { status, etag: header?.get("etag") };
    },
  };
}

describe("a skill that is switched off", () => {
  it("leaves the card, which gets a version and an ETag of its own, until it is on again", async () => {
    const { server, skills, getCard } = await scripted();
    const before = { card: server.card, etag: (await getCard()).etag };
    skills.disable("dig");
    skills.disable("dig");
    expect(server.card.skills.map(({ id }) => id)).toEqual(["fly"]);
    expect([server.card.version, skills.disabled]).toEqual(["1.2.0+off.dig", ["dig"]]);
    const one = await getCard();
    skills.disable("fly");
    expect([server.card.version, server.card.skills]).toEqual(["1.2.0+off.dig.fly", []]);
    const both = await getCard();
    expect(new Set([before.etag, one.etag, both.etag]).size).toBe(3);
    skills.enable("dig");
    skills.enable("fly");
    skills.enable("fly");
    expect(server.card).toEqual(before.card);
    expect((await getCard()).etag).toBe(before.etag);
  });

  it("leaves the extended card, too", async () => {
    const { client, skills } = await scripted();
    skills.disable("fly");
    const card = await client.getExtendedAgentCard({});
    expect([card.version, card.skills.map(({ id }) => id)]).toEqual(["1.2.0+off.fly", ["dig", "spy"]]);
  });

  it("stays off when the server moves", async () => {
    const { server, skills } = await scripted();
    skills.disable("dig");
    server.moveTo("http://localhost:4000");
    expect(server.card.supportedInterfaces[0]?.url).toBe("http://localhost:4000/rpc");
    expect(server.card.skills.map(({ id }) => id)).toEqual(["fly"]);
  });

  it("has its new tasks REJECTED before any work, whether it was named or chosen by route", async () => {
    const { client, script, skills, sendTo } = await scripted();
    skills.disable("dig");
    for (const answer of [await sendTo("dig"), await client.sendMessage(say("route me"))]) {
      const task = taskOf(answer);
      expect(endOf(task)).toEqual([TaskState.REJECTED, "skill-unavailable"]);
      expect(task.status?.message?.parts[0]?.content.value).toBe(
        'The skill "dig" is switched off at present.',
      );
      expect(await client.getTask({ id: task.id })).toEqual(task);
    }
    expect(script.begun).toBe(0);
    void sendTo("fly");
    expect((await script.nextTurn()).turn.skill).toBe("fly");
    skills.enable("dig");
    void sendTo("dig");
    expect((await script.nextTurn()).turn.skill).toBe("dig");
  });

  it("keeps the tasks that it has: running, waiting and asking ones go on", async () => {
    const { client, script, clock, skills, sendTo } = await scripted({ maxRunning: 1 });
    const asking = sendTo("dig", "asking");
    const { turn, yields } = await script.nextTurn();
    await yields(turn.inputRequired("?"));
    const { id } = taskOf(await asking);
    await clock.settle();
    const running = sendTo("dig", "running");
    const runningTurn = await script.nextTurn();
    const waiting = sendTo("dig", "waiting");
    await clock.settle();
    skills.disable("dig");
    runningTurn.returns();
    (await script.nextTurn()).returns();
    for (const answer of [await running, await waiting]) {
      expect(taskOf(answer).status?.state).toBe(TaskState.COMPLETED);
    }
    const answered = client.sendMessage(say("answer", { taskId: id }));
    const next = await script.nextTurn();
    expect([next.turn.text, next.turn.skill]).toEqual(["answer", "dig"]);
    next.returns();
    expect(taskOf(await answered).status?.state).toBe(TaskState.COMPLETED);
  });
});

describe("skill switches", () => {
  it("know the agent's skills only", () => {
    const skills = createSkillSwitches({ card: { name: "Agent", skills: [dig, fly] } }, () => {});
    expect(() => skills.disable("swim")).toThrow('there is no skill "swim"; there are: dig, fly');
    expect(() => skills.enable("swim")).toThrow('there is no skill "swim"');
  });

  it("tell of real changes only", () => {
    let changes = 0;
    const skills = createSkillSwitches({ card: { name: "Agent", skills: [dig, fly] } }, () => {
      changes += 1;
    });
    skills.enable("dig");
    skills.disable("fly");
    skills.disable("fly");
    skills.disable("dig");
    expect([skills.disabled, changes]).toEqual([["dig", "fly"], 2]);
  });
});
