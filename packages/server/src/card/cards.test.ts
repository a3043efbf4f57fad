import { lifecycleExtension } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { createEngineHarness, createScriptedExecutor, reasonOf, say, taskOf } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { type CardDefinition, defineAgent, type SkillDefinition } from "../agent/agent-definition.ts";

const dig = { id: "dig", name: "Dig", description: "Digs." };
const fly = { id: "fly", name: "Fly", description: "Flies." };
const card: CardDefinition = { name: "Agent", version: "1.0.0", skills: [dig, fly] };

const named = (skill: string) => ({ metadata: { [lifecycleExtension]: { skill } } });

/** A skill whose code answers with a word of its own. */
const saying = (skill: SkillDefinition, words: string): SkillDefinition => ({
  ...skill,
  durable: false,
  async *execute(turn) {
    yield turn.text === "ask" ? turn.inputRequired("?") : turn.complete(words);
  },
});

async function start(definition: CardDefinition = card) {
  const script = createScriptedExecutor();
  const agent = defineAgent({ card: definition, execute: script.execute });
  const harness = await createEngineHarness({
    agent,
    extendedCard: { find: () => agent.card, open: true },
  });
  const { client, server, log } = harness;
  return {
    ...harness,
    script,
    warnings: () => log.filter(({ level }) => level === "warn").map(({ message }) => message),
    async tell(skill: string, words = "go", taskId = "") {
      const details = taskId === "" ? named(skill) : { taskId };
      return taskOf(await client.sendMessage(say(words, details)));
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
    const { cards, server, tell } = await start();
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
    ["a skill's code and capacity only", { skills: [{ ...saying(dig, "x"), maxRunning: 3 }, fly] }, []],
    ["a skill, and the version", { skills: [dig], version: "1.1.0" }, []],
  ])("is warned of when it changes %s", async (_what, change, expected) => {
    const { cards, warnings } = await start();
    cards.update({ ...card, ...change });
    expect(warnings()).toEqual(
      expected.length === 0
        ? []
        : [
            `the card's ${expected.join(" and ")} changed, and its version is still 1.0.0: whoever keeps it by version does not notice`,
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

  it("runs the code of a new skill, and new code of one that there was", async () => {
    const { cards, tell } = await start({ ...card, skills: [saying(dig, "old"), fly] });
    expect(wordsOf(await tell("dig"))).toBe("old");
    cards.update({ ...card, skills: [saying(dig, "new"), saying({ ...fly, id: "swim" }, "splash")] });
    expect([wordsOf(await tell("dig")), wordsOf(await tell("swim"))]).toEqual(["new", "splash"]);
    const gone = await tell("fly");
    expect([gone.status?.state, wordsOf(gone)]).toEqual([
      TaskState.REJECTED,
      'There is no skill "fly". There are: dig, swim.',
    ]);
  });

  it("leaves tasks with the code that they were begun with, also when their skill is gone", async () => {
    const { cards, tell, clock } = await start({
      ...card,
      skills: [saying(dig, "first"), saying(fly, "flown")],
    });
    const [first, flying] = [await tell("dig", "ask"), await tell("fly", "ask")];
    cards.update({ ...card, skills: [saying(dig, "second")] });
    const second = await tell("dig", "ask");
    cards.update({ ...card, skills: [saying(dig, "third")] });
    await clock.settle();
    expect(wordsOf(await tell("", "go", first.id))).toBe("first");
    expect(wordsOf(await tell("", "go", second.id))).toBe("second");
    expect(wordsOf(await tell("", "go", flying.id))).toBe("flown");
    expect(wordsOf(await tell("dig"))).toBe("third");
  });

  it("tells the operator of a task whose code is not kept any more", async () => {
    const { cards, tell, clock, warnings } = await start({ ...card, skills: [saying(dig, "first")] });
    const first = await tell("dig", "ask");
    for (let count = 0; count < 1_000; count += 1) {
      cards.update({ ...card, skills: [saying(dig, `code ${count}`)] });
    }
    const last = await tell("dig", "ask");
    await clock.settle();
    expect(wordsOf(await tell("", "go", last.id))).toBe("code 999");
    expect(warnings()).toEqual([]);
    expect(wordsOf(await tell("", "go", first.id))).toBe("code 0");
    expect(warnings()).toEqual([
      "the agent was redefined so often that the code of this task is not kept any more; it is run by the oldest that is",
    ]);
  });

  it("leaves a durable task with its code, also when it has left memory meanwhile", async () => {
    const asking = (words: string): SkillDefinition => ({
      ...dig,
      durable: true,
      async *execute(task) {
        yield* task.ask(`${words}?`);
        yield task.complete(words);
      },
    });
    const { cards, tell, clock } = await start({ ...card, skills: [asking("old")] });
    const { id } = await tell("dig");
    cards.update({ ...card, skills: [asking("new")] });
    await clock.advance(60_000);
    await clock.settle();
    expect(wordsOf(await tell("", "go", id))).toBe("old");
    const { id: other } = await tell("dig");
    expect(wordsOf(await tell("", "go", other))).toBe("new");
  });

  it("gives skills their new capacity: more run at once, or no more wait", async () => {
    const { cards, client, script, clock } = await start({ ...card, skills: [{ ...dig, maxRunning: 1 }] });
    const send = (words: string) => client.sendMessage(say(words, named("dig")));
    const answers = [send("one"), send("two")];
    const one = await script.nextTurn();
    await clock.settle();
    expect(script.begun).toBe(1);
    cards.update({ ...card, skills: [{ ...dig, maxRunning: 2, maxQueued: 0 }] });
    const two = await script.nextTurn();
    expect(two.turn.text).toBe("two");
    const refused = taskOf(await send("three"));
    expect([refused.status?.state, reasonOf(refused)]).toEqual([TaskState.REJECTED, "capacity"]);
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
