import { TaskState } from "@a2a-connect/proto";
import { say, taskOf } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { startScripted } from "../../test-support/agents.ts";
import { endOf, lifecycle, sendTask } from "../../test-support/tasks.ts";
import type { CardDefinition, SkillDefinition } from "../agent/agent-definition.ts";

const dig = { id: "dig", name: "Dig", description: "Digs." };
const fly = { id: "fly", name: "Fly", description: "Flies." };
const card: CardDefinition = { name: "Agent", version: "1.0.0", skills: [dig, fly] };

/** A skill whose code answers with a word of its own. */
const saying = (skill: SkillDefinition, words: string): SkillDefinition => ({
  ...skill,
  durable: false,
  async *execute(turn) {
    yield turn.text === "ask" ? turn.inputRequired("?") : turn.complete(words);
  },
});

async function start(definition: CardDefinition = card) {
  const harness = await startScripted(
    { card: definition },
    { extendedCard: { find: () => definition, open: true } },
  );
  const { client, server, log } = harness;
  return {
    ...harness,
    warnings: () => log.filter(({ level }) => level === "warn").map(({ message }) => message),
    async tell(skill: string, words = "go", taskId = "") {
      const details = taskId === "" ? lifecycle({ skill }) : { taskId };
      return await sendTask(client, say(words, details));
    },
    cards: server.cards,
  };
}

const wordsOf = (task: ReturnType<typeof taskOf>) => task.status?.message?.parts[0]?.content.value;

describe("a card that is updated", () => {
  it("is another card at once", async () => {
    const { cards, server, client } = await start();
    cards.update({ ...card, version: "1.1.0", description: "New." });
    expect([server.card.version, server.card.description]).toEqual(["1.1.0", "New."]);
    expect(cards.card).toBe(server.card);
    expect((await client.getExtendedAgentCard({})).version).toBe("1.0.0");
  });

  it("is what it was when it was given, whatever its author does with it afterwards", async () => {
    const skills = [{ ...saying(dig, "dug"), tags: ["soil"] }];
    const provider = { organization: "Mole & Co", url: "https://mole.example" };
    const given = { ...card, version: "2.0.0", provider, skills };
    const { cards, server, tell } = await start({ ...card, skills });
    cards.update(given);
    const before = structuredClone(server.card);
    given.name = "\ud800";
    provider.organization = "Somebody else";
    for (const skill of skills) {
      skill.tags.push("gold");
    }
    skills.push({ ...saying(fly, "flown"), tags: [] });
    server.moveTo("http://localhost:4001");
    server.moveTo("http://localhost");
    expect(server.card).toEqual(before);
    expect(wordsOf(await tell("dig"))).toBe("dug");
    expect((await tell("fly")).status?.state).toBe(TaskState.REJECTED);
  });

  it("is what it was when the server was made, too", async () => {
    const given = { ...card, skills: [{ ...dig }] };
    const { server } = await start(given);
    const before = structuredClone(server.card);
    given.name = "Somebody else";
    given.skills.push({ ...fly });
    server.moveTo("http://localhost:4001");
    server.moveTo("http://localhost");
    expect(server.card).toEqual(before);
    expect(() => server.skills.disable("fly")).toThrow('there is no skill "fly"');
  });

  it("leaves what its author gave as it is", async () => {
    const given: CardDefinition = { ...card, version: "2.0.0", skills: [{ ...dig }] };
    const { cards } = await start();
    cards.update(given);
    expect([Object.isFrozen(given), Object.isFrozen(given.skills)]).toEqual([false, false]);
  });

  it.each<[string, CardDefinition, RegExp]>([
    ["a name", { ...card, name: "" }, /needs a name/],
    ["a description", { ...card, description: "" }, /description/],
    [
      "a skill's description",
      { ...card, skills: [{ ...dig, description: "" }] },
      /description of skill "dig"/,
    ],
    ["different ids", { ...card, skills: [dig, dig] }, /"dig" is not/],
    ["a capacity", { ...card, skills: [{ ...dig, maxRunning: 0 }] }, /maxRunning of skill "dig"/],
    ["whole characters", { ...card, version: "2.0.0", description: "\ud800" }, /./],
  ])("is refused without %s, and the one before stays", async (_what, definition, message) => {
    const { cards, server } = await start();
    const { card: before } = server;
    expect(() => cards.update(definition)).toThrow(message);
    expect(server.card).toBe(before);
  });

  const keyScheme = {
    scheme: { case: "apiKeySecurityScheme", value: { name: "k", location: "header" } },
  } as const;
  const requirement = { schemes: { key: { list: [] } } };
  it.each<[string, Partial<CardDefinition>, readonly string[]]>([
    ["a skill", { skills: [dig] }, ["skills"]],
    ["what a skill says", { skills: [dig, { ...fly, description: "Soars." }] }, ["skills"]],
    ["a scheme", { securitySchemes: { key: keyScheme } }, ["security schemes"]],
    [
      "a scheme and a requirement",
      { securitySchemes: { key: keyScheme }, securityRequirements: [requirement] },
      ["security schemes", "security requirements"],
    ],
    ["the description", { description: "Other." }, []],
    ["a skill's capacity only", { skills: [{ ...dig, maxRunning: 3 }, fly] }, []],
    ["a skill, and the version", { skills: [dig], version: "1.1.0" }, []],
  ])("is warned of when it changes %s", async (_what, change, expected) => {
    const { cards, warnings } = await start();
    cards.update({ ...card, ...change });
    expect(warnings()).toEqual(
      expected.length === 0
        ? []
        : [
            `the card's ${expected.join(" and ")} changed, and its version is still 1.0.0: callers that keep it by version do not notice`,
          ],
    );
  });

  it("compares with the card before it, and never with skills that are switched off", async () => {
    const { cards, server, warnings } = await start();
    server.skills.disable("fly");
    cards.update({ ...card });
    cards.update({ ...card, version: "2.0.0", skills: [dig] });
    cards.update({ ...card, version: "2.0.0", skills: [dig] });
    expect(warnings()).toEqual([]);
  });

  it("keeps the code of its skills, whether or not it is given again, and runs a new one by the agent's own", async () => {
    const digging = saying(dig, "dug");
    const { cards, script, tell } = await start({ ...card, skills: [digging, fly] });
    for (const described of [dig, digging]) {
      cards.update({ ...card, skills: [described, { ...fly, id: "swim" }] });
      expect(wordsOf(await tell("dig"))).toBe("dug");
    }
    const swimming = tell("swim");
    (await script.nextTurn()).returns();
    expect((await swimming).status?.state).toBe(TaskState.COMPLETED);
    const gone = await tell("fly");
    expect([gone.status?.state, wordsOf(gone)]).toEqual([
      TaskState.REJECTED,
      'There is no skill "fly". There are: dig, swim.',
    ]);
  });

  it.each<[string, SkillDefinition]>([
    ["of a skill that had some", saying(dig, "new")],
    ["of a skill that was run by the agent's own", saying(fly, "new")],
    ["of a new skill", saying({ ...fly, id: "swim" }, "new")],
  ])("is refused with new code %s, and the one before stays", async (_whose, skill) => {
    const { cards, server, tell } = await start({ ...card, skills: [saying(dig, "old"), fly] });
    const { card: before } = server;
    expect(() => cards.update({ ...card, skills: [skill] })).toThrow(
      `skill "${skill.id}" comes with code that it did not have when the agent was started: new code needs a restart`,
    );
    expect(server.card).toBe(before);
    expect(wordsOf(await tell("dig"))).toBe("old");
  });

  it("gives a skill that comes back the code that it was started with", async () => {
    const { cards, tell } = await start({ ...card, skills: [saying(dig, "dug"), fly] });
    cards.update({ ...card, skills: [fly] });
    cards.update({ ...card, skills: [dig] });
    expect(wordsOf(await tell("dig"))).toBe("dug");
  });

  it("leaves tasks with their code when their skill is gone", async () => {
    const { cards, tell, clock } = await start({
      ...card,
      skills: [saying(dig, "dug"), saying(fly, "flown")],
    });
    const [digging, flying] = [await tell("dig", "ask"), await tell("fly", "ask")];
    cards.update({ ...card, skills: [dig] });
    cards.update({ ...card, skills: [{ ...dig, description: "Digs deeper." }] });
    await clock.settle();
    expect(wordsOf(await tell("", "go", digging.id))).toBe("dug");
    expect(wordsOf(await tell("", "go", flying.id))).toBe("flown");
  });

  it("leaves a durable task with its code when its skill is gone and it has left memory meanwhile", async () => {
    const asking: SkillDefinition = {
      ...dig,
      durable: true,
      async *execute(task) {
        yield* task.ask("deep?");
        yield task.complete("dug");
      },
    };
    const { cards, tell, clock } = await start({ ...card, skills: [asking, fly] });
    const { id } = await tell("dig");
    cards.update({ ...card, skills: [fly] });
    await clock.advance(60_000);
    await clock.settle();
    expect(wordsOf(await tell("", "go", id))).toBe("dug");
    expect((await tell("dig")).status?.state).toBe(TaskState.REJECTED);
  });

  it("gives skills their new capacity: more run at once, or no more wait", async () => {
    const { cards, client, script, clock } = await start({ ...card, skills: [{ ...dig, maxRunning: 1 }] });
    const send = (words: string) => client.sendMessage(say(words, lifecycle({ skill: "dig" })));
    const answers = [send("one"), send("two")];
    const one = await script.nextTurn();
    await clock.settle();
    expect(script.begun).toBe(1);
    cards.update({ ...card, skills: [{ ...dig, maxRunning: 2, maxQueued: 0 }] });
    const two = await script.nextTurn();
    expect(two.turn.text).toBe("two");
    expect(endOf(taskOf(await send("three")))).toEqual([TaskState.REJECTED, "capacity"]);
    one.returns();
    two.returns();
    await Promise.all(answers);
  });

  it("keeps skills switched off that are still there, and forgets those that are gone", async () => {
    const { cards, server } = await start();
    server.skills.disable("dig");
    server.skills.disable("fly");
    cards.update({ ...card, version: "2.0.0", skills: [dig, { ...dig, id: "swim" }] });
    expect([server.skills.disabled, server.card.version]).toEqual([["dig"], "2.0.0+off.dig"]);
    expect(server.card.skills.map(({ id }) => id)).toEqual(["swim"]);
    expect(() => server.skills.enable("fly")).toThrow('there is no skill "fly"');
    cards.update({ ...card, version: "3.0.0" });
    expect([server.skills.disabled, server.card.version]).toEqual([["dig"], "3.0.0+off.dig"]);
    server.skills.enable("dig");
    expect(server.card.version).toBe("3.0.0");
  });

  it("asks for the extensions that it requires now", async () => {
    const { cards, client } = await start();
    cards.update({ ...card, version: "2.0.0", extensions: [{ uri: "urn:needed", required: true }] });
    await expect(client.listTasks({})).rejects.toThrow("urn:needed");
    cards.update({ ...card, version: "2.0.1" });
    expect((await client.listTasks({})).tasks).toEqual([]);
  });
});

describe("an extended card", () => {
  it("is made once for each object that says it, and anew when something else changes", async () => {
    let reads = 0;
    const counted = (version: string): CardDefinition => ({
      ...card,
      version,
      get skills() {
        reads += 1;
        return [dig, fly];
      },
    });
    let given = counted("1.0.0");
    const { server, client } = await startScripted(
      { card },
      { extendedCard: { find: () => given, open: true } },
    );
    const get = async () => {
      const before = reads;
      const { version, skills, supportedInterfaces } = await client.getExtendedAgentCard({});
      const urls = supportedInterfaces.map(({ url }) => new URL(url).origin);
      return { version, skills: skills.length, url: urls[0], isNew: reads > before };
    };
    server.moveTo("http://localhost:4001");
    const first = { version: "1.0.0", skills: 2, url: "http://localhost:4001", isNew: true };
    expect([await get(), await get()]).toEqual([first, { ...first, isNew: false }]);
    server.moveTo("http://localhost:4002");
    expect(await get()).toEqual({ ...first, url: "http://localhost:4002" });
    server.moveTo("http://localhost:4001");
    expect(await get()).toEqual({ ...first, isNew: false });
    server.skills.disable("fly");
    expect(await get()).toEqual({ ...first, version: "1.0.0+off.fly", skills: 1 });
    server.skills.enable("fly");
    expect(await get()).toEqual(first);
    const old = given;
    given = counted("2.0.0");
    expect(await get()).toEqual({ ...first, version: "2.0.0" });
    for (let others = 0; others < 100; others += 1) {
      given = counted("3.0.0");
      await get();
    }
    given = old;
    expect(await get(), "few are kept").toEqual(first);
  });
});
