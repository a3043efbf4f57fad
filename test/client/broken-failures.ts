// What clients are asked to do with broken agents, and what has to come of it.

import {
  type AgentClient,
  AgentError,
  type ConnectOptions,
  SendUncertainError,
  UnreachableError,
} from "@a2a-connect/client";
import { expect } from "vitest";
import { collect } from "../../packages/client/test-support/outcomes.ts";
import { taskId } from "./broken-task.ts";

/** A call that fails earlier has not waited for one of its `limits`. A busy machine may take some of this time. */
export const soonMs = 30_000;

/** All are long, so that a call which waits for one fails its test, but those of outages: these end only by the time. */
export const limits: ConnectOptions = {
  connectTimeoutMs: 60_000,
  requestTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  maxResponseBytes: 256 * 1024,
  retry: { attempts: 2, initialDelayMs: 1, maxDelayMs: 5, giveUpAfterMs: 600 },
};

type Act = (agent: AgentClient) => Promise<unknown>;

/** The class of an error, and words of it that say what is wrong. */
export interface ExpectedError {
  readonly error: abstract new (...args: never[]) => Error;
  readonly says?: RegExp;
  /** All calls that the agent gets. */
  readonly calls?: readonly string[];
}

/** A broken agent, what a client does with it, and the error that it comes to. */
export interface Failure<Answer> {
  readonly server: string;
  readonly act: Act;
  readonly expected: ExpectedError;
  readonly answer: Answer;
  /** Beside `limits`. */
  readonly options?: ConnectOptions;
}

/** A row: a server that does so fails what the client does, with such an error. */
export function fails<Answer>(
  server: string,
  act: Act,
  expected: ExpectedError["error"] | ExpectedError,
  answer: Answer,
): Failure<Answer> {
  return { server, act, expected: typeof expected === "function" ? { error: expected } : expected, answer };
}

export const run: Act = (agent) => agent.run("Tell me.");
export const getTask: Act = (agent) => agent.getTask(taskId);
export const follow: Act = (agent) => collect(agent.follow(taskId, { after: 0 }));

/** An error of that class; one of ours has a sentence and a hint. */
export function expectTyped(thrown: unknown, { error, says }: ExpectedError): void {
  expect(thrown).toBeInstanceOf(error);
  if (!(thrown instanceof AgentError)) {
    expect(String(thrown)).toMatch(says ?? /\S+ \S+/);
    return;
  }
  const words = `${thrown.message}\n${thrown.hint ?? ""}`;
  expect(thrown.message).toMatch(/\S+ \S+ \S+/);
  expect(thrown.hint ?? "", `the hint of: ${thrown.message}`).toMatch(/\S+ \S+ \S+/);
  expect(words).toMatch(says ?? /./);
  expect(words.length).toBeLessThan(2_000);
}

/** Rows: a server that never answers. On a busy machine the silence may be over before the server has the call, which changes nothing. */
export const neverAnswers: readonly Failure<() => void>[] = [
  fails("never answers", getTask, { error: UnreachableError, says: /requestTimeoutMs/ }, () => {}),
  fails("never answers a message", run, SendUncertainError, () => {}),
  fails("never answers a subscription", follow, UnreachableError, () => {}),
].map((row) => ({ ...row, options: { requestTimeoutMs: 500, idleTimeoutMs: 500 } }));
