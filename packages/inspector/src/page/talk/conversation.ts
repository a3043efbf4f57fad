import { text } from "@a2a-connect/core";
import { type ReadonlySignal, signal } from "@preact/signals";
import { Exchange, type Outgoing } from "./exchange.ts";

const current = signal<readonly Exchange[]>([]);

/** The exchanges of the conversation, oldest first. */
export const exchanges: ReadonlySignal<readonly Exchange[]> = current;

/** Sends a message as the next of the conversation; as the answer, when the agent has asked. */
export function send(outgoing: Outgoing): void {
  const asking = findAsking();
  if (asking !== undefined) {
    void asking.answer(outgoing.parts);
    return;
  }
  begin(outgoing);
}

/** Sends an example of a skill, also while the agent waits for something else. */
export function sendExample(example: string, skill: string | undefined): void {
  begin({ parts: [text(example)], skill });
}

function begin(outgoing: Outgoing): void {
  const contextId = current.value.findLast(({ fold }) => fold.contextId !== "")?.fold.contextId ?? "";
  const exchange = new Exchange(outgoing);
  current.value = [...current.value, exchange];
  void exchange.start(contextId);
}

/** Shows a task in the conversation, so that a person can answer what its agent has asked. */
export function continueTask(taskId: string): void {
  const known = current.value.find(({ fold }) => fold.taskId === taskId);
  const exchange = known ?? new Exchange({ parts: [], skill: undefined });
  current.value = [...current.value.filter((each) => each !== known), exchange];
  if (known === undefined) void exchange.resume(taskId);
}

/** The exchange whose question the next message answers: the last one, if its agent has asked. */
export function findAsking(): Exchange | undefined {
  const last = current.value.at(-1);
  return last?.phase.value === "waiting" ? last : undefined;
}

/** Begins anew. The tasks go on. */
export function clear(): void {
  current.value = [];
}
