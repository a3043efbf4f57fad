import { bytes, findA2AError, json, text } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { createEngineHarness, reasonOf, say } from "@a2a-connect/testing";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { endOf, lifecycle, sendTask } from "../../test-support/tasks.ts";
import type { AgentDefinition, SkillDescription, TurnCode } from "./agent-definition.ts";

const skillOf = (
  id: string,
  rest: Partial<SkillDescription & TurnCode> = {},
): SkillDescription & TurnCode => ({
  id,
  name: id,
  description: id,
  execute: (turn) => [
    turn.task === undefined ? turn.inputRequired("?") : turn.complete(`${id}: ${turn.skill}`),
  ],
  ...rest,
});

const agent: AgentDefinition = {
  card: {
    name: "Agent",
    skills: [
      skillOf("one"),
      skillOf("two"),
      skillOf("images", {
        inputModes: ["image/*"],
        outputModes: ["image/png"],
        execute: (turn) => [turn.working(), turn.artifact({ parts: [turn.message.parts[0] ?? text("")] })],
      }),
    ],
  },
  execute: (turn) => [
    turn.task === undefined ? turn.inputRequired("?") : turn.complete(`agent: ${turn.skill}`),
  ],
};

const asking = (skill: unknown) => lifecycle({ skill: skill as string }); // wrong on purpose, sometimes

/** The words of the second turn, which say who ran it. */
async function answerOf(
  definition: AgentDefinition,
  first: Parameters<typeof say>[1],
  second: Parameters<typeof say>[1] = {},
) {
  const { client } = await createEngineHarness({ agent: definition });
  const { id } = await sendTask(client, say("go", first));
  const task = await sendTask(client, say("yes", { ...second, taskId: id }));
  return task.status?.message?.parts[0]?.content.value;
}

describe("the skill of a task", () => {
  it("is the one that the caller names", async () => {
    expect(await answerOf(agent, asking("two"))).toBe("two: two");
  });

  it("is none when nobody names one: the agent's own code runs", async () => {
    expect(await answerOf(agent, {})).toBe("agent: undefined");
  });

  it("is what route says when the caller names none, and the caller's otherwise", async () => {
    const routed: AgentDefinition = { ...agent, route: () => "one" };
    expect(await answerOf(routed, {})).toBe("one: one");
    expect(await answerOf(routed, asking("two"))).toBe("two: two");
  });

  it("is chosen once: a follow-up cannot change it, and route is not asked again", async () => {
    let asked = 0;
    const routed: AgentDefinition = {
      ...agent,
      route: () => {
        asked += 1;
        return asked === 1 ? "one" : "two";
      },
    };
    expect(await answerOf(routed, {}, asking("two"))).toBe("one: one");
    expect(asked).toBe(1);
  });

  for (const [what, definition, details] of [
    ["the caller", agent, asking("three")],
    ["route", { ...agent, route: () => "three" }, {}],
  ] as const) {
    it(`that ${what} names and nobody knows is REJECTED as unsupported-skill, with those there are`, async () => {
      const { client } = await createEngineHarness({ agent: definition });
      const task = await sendTask(client, say("go", details));
      expect(endOf(task)).toEqual([TaskState.REJECTED, "unsupported-skill"]);
      const words = task.status?.message?.parts[0]?.content.value;
      for (const name of ["three", "one", "two", "images"]) expect(words).toContain(name);
    });
  }

  it("of a very long name is REJECTED with the beginning of it", async () => {
    const { client } = await createEngineHarness({ agent });
    const task = await sendTask(client, say("go", asking("x".repeat(100_000))));
    const words = task.status?.message?.parts[0]?.content.value;
    expect(words).toMatch(/^There is no skill "x{160}…"\. There are: /);
  });

  it("has to be named when only skills have code", async () => {
    const { client } = await createEngineHarness({
      agent: { card: { name: "Agent", skills: [skillOf("one")] } },
    });
    expect(reasonOf(await sendTask(client))).toBe("unsupported-skill");
  });

  for (const skill of ["", 1, ["one"], {}]) {
    it(`is refused as ${JSON.stringify(skill)}, naming the field`, async () => {
      const { client } = await createEngineHarness({ agent });
      await expect(client.sendMessage(say("go", asking(skill)))).rejects.toMatchObject({
        code: Code.InvalidArgument,
        rawMessage: expect.stringContaining(".skill"),
      });
    });
  }

  it("takes a priority, and refuses one that is none", async () => {
    const { client } = await createEngineHarness({ agent });
    const priorityOf = (priority: string) => lifecycle({ priority });
    for (const priority of ["low", "normal", "high"]) {
      expect((await sendTask(client, say("go", priorityOf(priority)))).id).not.toBe("");
    }
    await expect(client.sendMessage(say("go", priorityOf("urgent")))).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: expect.stringContaining(".priority"),
    });
  });

  it("decides which media types are taken in and given out (A-9)", async () => {
    const { client } = await createEngineHarness({ agent });
    const image = (mediaType: string) => bytes(new Uint8Array([1]), { mediaType });
    const send = async (parts: Parameters<typeof say>[0], skill: string) =>
      await sendTask(client, say(parts, asking(skill)));
    expect((await send([image("image/png")], "images")).status?.state).toBe(TaskState.COMPLETED);
    expect(reasonOf(await send([image("image/gif")], "images"))).toBe("invalid-agent-response");
    await expect(send("words", "images")).rejects.toMatchObject({ code: Code.InvalidArgument });
    await expect(send([image("image/png")], "one")).rejects.toMatchObject({ code: Code.InvalidArgument });
    expect((await send([text("words"), json({ a: 1 })], "one")).status?.state).toBe(TaskState.INPUT_REQUIRED);
  });

  it("repeats no media type of megabytes when it refuses it", async () => {
    const { client } = await createEngineHarness({ agent });
    const refused = client.sendMessage(say([text("go", { mediaType: "é".repeat(2 ** 20) })]));
    const error = ConnectError.from(await refused.catch((thrown: unknown) => thrown));
    expect(error.rawMessage).toMatch(/^message\.parts\[0\] is é{160}…; taken are /);
    expect(findA2AError(error)?.metadata).toMatchObject({ mediaType: expect.stringMatching(/^é{160}…$/) });
  });

  it("decides the same for follow-ups (A-9)", async () => {
    const { client } = await createEngineHarness({ agent });
    const { id } = await sendTask(client, say("go", asking("one")));
    await expect(client.sendMessage(say([bytes(new Uint8Array([1]))], { taskId: id }))).rejects.toMatchObject(
      { code: Code.InvalidArgument, rawMessage: expect.stringContaining("application/octet-stream") },
    );
    expect((await client.getTask({ id })).history).toHaveLength(1);
  });
});
