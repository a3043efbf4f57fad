import type { Binding } from "../peers/caller.ts";

/** How a task ended for its caller, and the text of its artifacts. */
export interface Outcome {
  readonly state: string;
  readonly text: string;
}

/** What each caller does with the reference agent; each scenario in words of the protocol. */
export interface Scenarios {
  /** Reads the card. */
  discover(): Promise<{ readonly name: string }>;
  /** Sends `task hello`, and waits for the task. */
  send(): Promise<Outcome>;
  /** Sends `stream 3 20`, and reads the events. */
  stream(): Promise<Outcome & { readonly chunks: number }>;
  /** Sends `ask What?`, and answers the question with `Ada`. */
  question(): Promise<Outcome & { readonly asked: string; readonly question: string }>;
  /** Sends `sleep 3600000` without waiting, and cancels the task. */
  cancel(): Promise<Outcome>;
  /** Sends `stream 5 300`, leaves after the first chunk, resubscribes, and reads to the end. */
  resubscribe(): Promise<Outcome>;
  /** Sends `task hello` with a webhook, whose token is `the-token`. */
  push(webhook: string): Promise<Outcome>;
}

export type ScenarioName = keyof Scenarios;

/** What comes of each scenario. The texts of chunks are without repetitions. */
export const outcomes: { readonly [Name in ScenarioName]: Awaited<ReturnType<Scenarios[Name]>> } = {
  discover: { name: "a2a-connect reference agent" },
  send: { state: "completed", text: "hello" },
  stream: { state: "completed", text: "chunk 1 chunk 2 chunk 3", chunks: 3 },
  question: { asked: "input-required", question: "What?", state: "completed", text: "Ada" },
  cancel: { state: "canceled", text: "" },
  resubscribe: { state: "completed", text: "chunk 1 chunk 2 chunk 3 chunk 4 chunk 5" },
  push: { state: "completed", text: "hello" },
};

/** Software with A2A 0.3 that calls agents. */
export interface OlderCaller extends AsyncDisposable {
  readonly bindings: readonly Binding[];
  /** What it does not offer, and why: such a scenario is not tried. */
  readonly without: Readonly<Partial<Record<Binding | ScenarioName, string>>>;
  open(agent: string, binding: Binding): Partial<Scenarios>;
}

/** The reference agent writes each chunk as often as a kilobyte takes. */
export function withoutRepetitions(text: string): string {
  return [...new Set(text.match(/chunk \d+/g) ?? [text])].join(" ");
}
