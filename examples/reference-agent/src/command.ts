import type { DurableEvent, EventTools, Turn, TurnEvent } from "@a2a-connect/server";

/** What executors of both kinds have. */
export type CommonTools = EventTools & Pick<Turn, "message" | "text">;

/** What executors of both kinds may yield. */
export type CommonEvent = Extract<TurnEvent, DurableEvent>;

/** What an executor gives. */
export type Events<Event> = AsyncIterable<Event> | Iterable<Event>;

/** One command: the whole first text part has to match. */
export interface Command<Tools, Event> {
  readonly usage: string;
  readonly pattern: RegExp;
  /** Upper bounds of the numbers that the pattern captures, in order; 0 is the lowest. */
  readonly limits?: readonly number[];
  readonly run: (tools: Tools, words: readonly string[], numbers: readonly number[]) => Events<Event>;
}

/** What there is to know about a command without running it. */
export type CommandSyntax = Pick<Command<never, unknown>, "usage" | "pattern">;

/** The first text part; empty when there is none. */
export function firstText({ parts }: Turn["message"]): string {
  const part = parts.find(({ content }) => content.case === "text");
  return part?.content.case === "text" ? part.content.value : "";
}

/** The command that `words` are. */
export function findCommand<Found extends CommandSyntax>(
  commands: readonly Found[],
  words: string,
): Found | undefined {
  return commands.find(({ pattern }) => pattern.test(words));
}

/** Does what the message says; refuses numbers that are too large. */
export function runCommand<Tools extends CommonTools, Event>(
  { pattern, limits = [], usage, run }: Command<Tools, Event>,
  tools: Tools,
): Events<Event | CommonEvent> {
  const words = pattern.exec(firstText(tools.message))?.slice(1) ?? [];
  const numbers = words.map((word: string | undefined) => Number(word ?? 0)); // a group may be left out
  const over = limits.findIndex((limit, index) => (numbers[index] ?? 0) > limit);
  if (over === -1) {
    return run(tools, words, numbers);
  }
  const sentence = `A number is too large: at most ${limits[over]}. Usage: ${usage}`;
  return [tools.reject(sentence, { reason: "out-of-range" })];
}

/** What a message is answered with that is no command. */
export function* echo(tools: CommonTools): Generator<CommonEvent> {
  yield tools.artifact({ name: "echo", parts: tools.message.parts });
  yield tools.complete(tools.text === "" ? "Received." : tools.text);
}
