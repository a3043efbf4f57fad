import { PassThrough } from "node:stream";
import type { Question } from "@a2a-connect/client";
import { TaskSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { askTerminal } from "./ask-terminal.ts";

describe("askTerminal", () => {
  it("asks, and gives the line that is typed", async () => {
    const { ask, type, shown } = openTerminal();
    type("  Paris \n");
    expect(await ask({ text: "Which city?" })).toBe("Paris");
    expect(shown()).toBe("The agent asks: Which city?\n> ");
  });

  it("gives one answer to each question, also when they are typed at once", async () => {
    const { ask, type } = openTerminal();
    type("one\r\ntwo\nthree");
    expect([await ask({}), await ask({})]).toEqual(["one", "two"]);
    type("!\n");
    expect(await ask({})).toBe("three!");
  });

  it("asks again for an empty answer", async () => {
    const { ask, type, shown } = openTerminal();
    type("\n \nyes\n");
    expect(await ask({ text: "Sure?" })).toBe("yes");
    expect(shown()).toBe("The agent asks: Sure?\n> > > ");
  });

  for (const [line, want] of [
    ["2", "Rome"],
    ["Rome", "Rome"],
    ["rome", "Rome"],
    ["1", "New  York\u001b[31m"],
    ["new york", "New  York\u001b[31m"],
  ] as const) {
    it(`takes ${line} for a choice, as the agent wrote it`, async () => {
      const { ask, type } = openTerminal();
      type(`${line}\n`);
      expect(await ask({ choices: ["New  York\u001b[31m", "Rome"] })).toBe(want);
    });
  }

  it("asks again until an answer is one of the choices", async () => {
    const { ask, type, shown } = openTerminal();
    type("3\n0\nBerlin\n2\n");
    expect(await ask({ text: "Which?", choices: ["Paris", "Rome"] })).toBe("Rome");
    expect(shown()).toContain("  1) Paris\n  2) Rome\n> Please answer with a number from 1 to 2.\n> ");
  });

  it("takes a choice that is a number for itself, not for its place", async () => {
    const { ask, type } = openTerminal();
    type("1\n");
    expect(await ask({ choices: ["2", "1"] })).toBe("1");
  });

  it("shows no control sequences", async () => {
    const { ask, type, shown } = openTerminal();
    type("1\n");
    await ask({ text: "\u001b]0;owned\u0007Sure\u001b[2J?", choices: ["ye\u001b[31ms\n  2) no", "no"] });
    expect(shown()).toBe("The agent asks: Sure?\n  1) yes 2) no\n  2) no\n> ");
  });

  it("says when credentials are asked for", async () => {
    const { ask, type, shown } = openTerminal();
    type("secret\n");
    expect(await ask({ kind: "auth", text: "Sign in" })).toBe("secret");
    expect(shown()).toContain("The agent asks for credentials: Sign in\n");
  });

  it("gives no answer when the input ends", async () => {
    const { ask, end, type } = openTerminal();
    type("half");
    const answer = ask({});
    end();
    expect([await answer, await ask({})]).toEqual(["half", undefined]);
  });

  it("stops asking when the answer is no longer wanted, and keeps the next question's answer apart", async () => {
    const { ask, type } = openTerminal();
    const controller = new AbortController();
    const unwanted = ask({ signal: controller.signal });
    const next = ask({});
    controller.abort();
    expect(await unwanted).toBeUndefined();
    type("for the second\n");
    expect(await next).toBe("for the second");
    expect(await ask({ signal: AbortSignal.abort() })).toBeUndefined();
  });

  it("asks one question at a time", async () => {
    const { ask, type, shown } = openTerminal();
    const answers = [ask({ text: "first" }), ask({ text: "second" })];
    await new Promise(setImmediate);
    expect(shown()).not.toContain("second");
    type("a\nb\n");
    expect(await Promise.all(answers)).toEqual(["a", "b"]);
  });
});

function openTerminal() {
  const input = new PassThrough();
  const output = new PassThrough();
  let text = "";
  output.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const resolver = askTerminal({ input, output });
  return {
    ask: async (question: Partial<Question>) => resolver({ ...blank, ...question }),
    type: (line: string) => void input.write(line),
    end: () => void input.end(),
    shown: () => text,
  };
}

const blank: Question = {
  kind: "input",
  taskId: "t1",
  contextId: "c1",
  text: "?",
  choices: undefined,
  schema: undefined,
  details: undefined,
  auth: undefined,
  message: undefined,
  task: create(TaskSchema),
  signal: new AbortController().signal,
};
