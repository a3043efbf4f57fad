import { bytes } from "@a2a-connect/core";
import { Role } from "@a2a-connect/proto";
import { type AgentDefinition, defineAgent, type Turn, type TurnEvent } from "@a2a-connect/server";
import { cardTexts, commands, product, questions } from "./contract-work.ts";

/** The contract's agent, served by us. */
export const contractAgent: AgentDefinition = defineAgent({
  card: {
    name: cardTexts.name,
    description: cardTexts.description,
    version: cardTexts.version,
    defaultInputModes: cardTexts.inputModes,
    defaultOutputModes: cardTexts.outputModes,
    skills: cardTexts.skills.map((skill) => ({ ...skill, inputModes: [...skill.inputModes] })),
  },
  lifecycle: { asks: true, asksForAuth: true },
  async *execute(turn) {
    yield* act(turn);
  },
});

async function* act(turn: Turn): AsyncGenerator<TurnEvent> {
  const said = readWords(turn);
  const [command, ...words] = said[0]?.split(" ") ?? [];
  switch (command) {
    case commands.echo:
      yield turn.reply(words.join(" "));
      return;
    case commands.work:
      yield turn.working("begun");
      for (const [index, chunk] of product.chunks.entries()) {
        yield turn.append("story", chunk, { last: index === product.chunks.length - 1 });
      }
      yield turn.artifact({ id: "table", name: "table", data: product.table });
      yield turn.artifact({
        id: "picture",
        name: "picture",
        parts: [bytes(product.picture, { mediaType: "image/png", filename: "picture.png" })],
      });
      yield turn.complete(product.closing);
      return;
    case commands.ask:
      yield* ask(turn, said.slice(1));
      return;
    case commands.auth:
      yield said.length === 1
        ? turn.authRequired("Sign in, please.")
        : turn.artifact({ id: "secret", name: "secret", text: said[1] ?? "" });
      return;
    case commands.fail:
      yield turn.working("trying");
      yield turn.fail("it could not be done", { reason: words[0] ?? "" });
      return;
    case commands.reject:
      yield turn.reject("it will not be done", { reason: words[0] ?? "" });
      return;
    default:
      yield turn.working("waiting");
      await new Promise((resolve) => turn.signal.addEventListener("abort", resolve, { once: true }));
  }
}

function* ask(turn: Turn, answers: readonly string[]): Generator<TurnEvent> {
  const question = questions[answers.length];
  yield question === undefined
    ? turn.artifact({ id: "answers", name: "answers", text: answers.join(", ") })
    : turn.inputRequired(question);
}

/** What the caller has said in this task, oldest first. */
function readWords({ task, message, text }: Turn): readonly string[] {
  const earlier = (task?.history ?? []).filter(
    ({ role, messageId }) => role === Role.USER && messageId !== message.messageId,
  );
  return [
    ...earlier.map(({ parts: [part] }) => (part?.content.case === "text" ? part.content.value : "")),
    text,
  ];
}
