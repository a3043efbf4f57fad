// Errors go to terminals and logs: nothing that an agent says in them is obeyed there.

import { type AgentClient, AgentError, RunTimeoutError } from "@a2a-connect/client";
import { TaskState } from "@a2a-connect/proto";
import { wires } from "@a2a-connect/testing";
import { Code, ConnectError } from "@connectrpc/connect";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { collect, failureOf } from "../../packages/client/test-support/outcomes.ts";
import { meetPeer } from "../conformance/client/every-operation.ts";
import { events, peerTask, taskEvent, textPart } from "../conformance/client/peer.ts";
import { createManualClock } from "./client-clocks.ts";
import { never, type PeerService } from "./scripted-task.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

/** Clears a screen, renames a window, turns colours and the direction of writing, in 7-bit and in 8-bit form. */
const evil = "x\u001b[2J\u001b]0;pwn\u0007\u001b[31m\u009b2J\u009d0;pwn\u009c\u202ey\u0000\u007f\r\u0008";

/** What a terminal obeys, but line feeds and tabs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const { COMPLETED, FAILED, INPUT_REQUIRED, REJECTED, CANCELED, WORKING, AUTH_REQUIRED } = TaskState;

function evilTask(state: TaskState) {
  const task = peerTask(state);
  task.id = `task-${evil}`;
  return task;
}

/** The task with that id, whatever is called. */
function evilService(state: TaskState): PeerService {
  const task = evilTask(state);
  const stream = async function* () {
    yield { payload: { case: "task", value: task } } as const;
    if (state === WORKING || state === INPUT_REQUIRED) await never;
  };
  return {
    sendStreamingMessage: stream,
    subscribeToTask: stream,
    sendMessage: () => {
      throw new ConnectError(`no ${evil}`, Code.InvalidArgument);
    },
    getTask: () => task,
  };
}

const refusing = (code: Code): PeerService => {
  const refuse = () => {
    throw new ConnectError(`no ${evil}`, code);
  };
  return { getTask: refuse, sendStreamingMessage: refuse, subscribeToTask: refuse, sendMessage: refuse };
};

const withArtifact: PeerService = {
  sendStreamingMessage: () =>
    events(
      taskEvent(COMPLETED, {
        artifacts: [{ artifactId: `artifact-${evil}`, parts: [textPart(`{"mood":"${evil}`)] }],
      }),
    ),
  getTask: () => peerTask(COMPLETED),
};

const run = (agent: AgentClient) => agent.run("go");
const read =
  (act: (artifacts: Awaited<ReturnType<AgentClient["run"]>>) => unknown) => async (agent: AgentClient) =>
    act(await agent.run("go"));

describe.each(wires)("over %s", { timeout: 5_000 }, (wire) => {
  it.each<readonly [string, PeerService, (agent: AgentClient) => Promise<unknown>]>([
    ["a task that failed", evilService(FAILED), run],
    ["a task that was rejected", evilService(REJECTED), run],
    ["a task that was canceled", evilService(CANCELED), run],
    ["a question", evilService(INPUT_REQUIRED), run],
    ["a request for credentials", evilService(AUTH_REQUIRED), run],
    [
      "an answer that is refused",
      evilService(INPUT_REQUIRED),
      (agent) => agent.run("go", { onInputRequired: () => "this" }),
    ],
    [
      "an answer that cannot be sent",
      evilService(INPUT_REQUIRED),
      (agent) => agent.run("go", { onInputRequired: () => 42 as never }), // of a caller without types
    ],
    [
      "a callback that throws",
      evilService(INPUT_REQUIRED),
      (agent) =>
        agent.run("go", {
          onTask: ({ id }) => {
            throw new Error(id);
          },
        }),
    ],
    ["an outage of what is followed", refusing(Code.Internal), (agent) => collect(agent.follow("task-1"))],
    ["a refusal", refusing(Code.PermissionDenied), run],
    ["a refused GetTask", refusing(Code.NotFound), (agent) => agent.getTask("task-1")],
    ["another task than was asked for", evilService(COMPLETED), (agent) => agent.getTask("task-1")],
    ["an artifact that is not there", withArtifact, read((result) => result.artifact("none"))],
    ["an artifact that is no JSON", withArtifact, read(({ artifacts: [first] }) => first?.json())],
    [
      "an artifact that does not fit its schema",
      {
        ...withArtifact,
        sendStreamingMessage: () =>
          events(
            taskEvent(COMPLETED, {
              artifacts: [
                { artifactId: `artifact-${evil}`, parts: [textPart(JSON.stringify({ mood: evil }))] },
              ],
            }),
          ),
      },
      read(({ artifacts: [first] }) => first?.json(v.object({ mood: v.picklist(["fine"]) }))),
    ],
  ])("%s is told without control sequences", async (_, service, act) => {
    const { agent } = await meetPeer(wire, service, {
      retry: { attempts: 2, initialDelayMs: 1, giveUpAfterMs: 20 },
    });
    const thrown = await failureOf(act(agent));
    expect(thrown).not.toBeInstanceOf(TypeError);
    if (!(thrown instanceof Error)) throw new TypeError("an error was expected");
    expect(thrown.message).toMatch(/\S+ \S+/);
    expect(thrown.message).not.toMatch(obeyed);
    expect(thrown.stack ?? "").not.toMatch(obeyed);
    if (thrown instanceof AgentError) expect(thrown.hint ?? "").not.toMatch(obeyed);
  });

  it("a run that took too long is told without control sequences", async () => {
    const clock = createManualClock();
    const { agent } = await meetPeer(wire, evilService(WORKING), { clock });
    const known = Promise.withResolvers<void>();
    const failure = failureOf(agent.run("go", { deadlineMs: 300, onTask: () => known.resolve() }));
    await known.promise;
    await clock.advance(300);
    const thrown = await failure;
    if (!(thrown instanceof RunTimeoutError)) throw thrown;
    expect(thrown.hint).toContain("task-x");
    expect(`${thrown.message} ${thrown.hint}`).not.toMatch(obeyed);
  });
});
