import { defineAgent, type Turn, type TurnEvent } from "@a2a-connect/server";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { expectDiscreet, findProblem, serveTarget } from "./target.ts";
import { encodeCall, type MethodName, type Wire, wires } from "./wires.ts";

/** What may come out of an executor; the words are those that `expectDiscreet` looks for. */
const failures: Readonly<Record<string, unknown>> = {
  error: new Error("thrown on purpose"),
  cause: new Error("thrown on purpose", { cause: new TypeError("thrown on purpose, too") }),
  text: "thrown on purpose",
  nothing: undefined,
  connect: new ConnectError("thrown on purpose", Code.NotFound),
  hostile: {
    get message(): string {
      throw new Error("thrown on purpose");
    },
    toString(): string {
      throw new Error("thrown on purpose");
    },
  },
};

async function* execute(turn: Turn): AsyncGenerator<TurnEvent> {
  const [when, what = ""] = turn.text.split(" ");
  if (when === "later") yield turn.working();
  throw failures[what];
}

const target = serveTarget({
  agent: defineAgent({
    card: { name: "Thrower", description: "Fails.", version: "1", skills: [] },
    execute,
  }),
});

function send(wire: Wire, text: string, method: MethodName = "SendMessage") {
  const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text }] };
  return encodeCall(wire, { method, json: JSON.stringify({ message }) });
}

/** Requirement B-8: the exception's own text goes to the operator's error object and nowhere else. */
for (const wire of wires) {
  describe(`an executor that throws, over ${wire.name}`, () => {
    for (const what of Object.keys(failures)) {
      for (const method of ["SendMessage", "SendStreamingMessage"] as const) {
        it(`is an internal error before there is a task: ${what}, ${method}`, async () => {
          const logged = target.log.length;
          const refusal = await target.refuses(wire, send(wire, `at-once ${what}`, method), {
            error: "internal",
          });
          expect(refusal.message).toMatch(/internal error/i);
          expect(target.log.slice(logged).filter(({ level }) => level === "error")).not.toEqual([]);
        });
      }

      it(`fails its task: ${what}`, async () => {
        const logged = target.log.length;
        const answer = await target.send(send(wire, `later ${what}`));
        expect(findProblem(wire, answer)).toBeUndefined();
        expect(new TextDecoder().decode(answer.body)).toContain("internal"); // the reason
        expect(target.log.slice(logged)).toContainEqual(expect.objectContaining({ level: "error" }));
        await target.answersGoodCall(wire);
      });
    }
  });
}

it("leaves nothing of what was thrown in the tasks and their list", async () => {
  const answer = await target.send(encodeCall(wires[1] as Wire, { method: "ListTasks" })); // HTTP+JSON
  const text = new TextDecoder().decode(answer.body);
  expect(text).toContain("TASK_STATE_FAILED");
  expectDiscreet(text);
});
