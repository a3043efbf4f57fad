// No place to write: a disk that is full, files that may not grow, a database that is read-only.

import { chmodSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { startReceiver } from "@a2a-connect/conformance";
import { findA2AError } from "@a2a-connect/core";
import { idempotencyKeyHeader } from "@a2a-connect/core/internal";
import { TaskState } from "@a2a-connect/proto";
import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
import { say, taskOf } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { startAgent, storeFile, temporaryDirectory } from "./agent-process.ts";
import type { Command } from "./fault-agent.ts";
import { createRandom } from "./random.ts";
import { count, report } from "./report.ts";
import { playScenario } from "./scenario.ts";
import { wireNames } from "./service.ts";
import { smallDisks } from "./small-disk.ts";
import { superviseAgent } from "./supervised-agent.ts";
import { follow, sendAndFollow, type Transcript } from "./transcript.ts";
import { findFaults, judgeTranscript } from "./verdict.ts";

/** At work long enough that there is no place to write in the middle of it. */
const work = "30 20";
const commands: readonly Command[] = ["stream", "turn", "restart"];

describe.each(smallDisks)("$name", ({ name, isHere, needs, within, fill, free }) => {
  it("is UNAVAILABLE on every wire, loses nothing, and passes", {
    timeout: 60_000,
    skip: !isHere,
    meta: { skipReason: needs },
  }, async () => {
    const dataDir = temporaryDirectory();
    let mayBeLost = false;
    const isLost = (error: unknown) => mayBeLost && isUnavailable(error);
    const agent = await superviseAgent(dataDir, { within: within(dataDir), isLost });
    const contextId = crypto.randomUUID();
    const sayHere = (words: string, taskId?: string) =>
      say(words, {
        contextId,
        messageId: crypto.randomUUID(),
        ...(taskId === undefined ? {} : { taskId }),
      });
    const run = (command: Command, onEvent?: () => void) =>
      sendAndFollow(agent, sayHere(`${command} ${work}`), {
        wire: "gRPC",
        key: crypto.randomUUID(),
        ...(onEvent === undefined ? {} : { onEvent }),
      });
    const undisturbed = new Map(
      await Promise.all(commands.map(async (command) => [command, await run(command)] as const)),
    );
    const asked = await sendAndFollow(agent, sayHere("ask"), { wire: "gRPC", key: crypto.randomUUID() });
    const tasksBefore = commands.length + 1;

    // In the middle of some work the place is gone.
    const running = commands.map((command) => {
      const seen = { count: 0, enough: Promise.withResolvers<void>() };
      const transcript = run(command, () => {
        seen.count += 1;
        if (seen.count === 5) seen.enough.resolve();
      });
      return { command, atWork: Promise.race([seen.enough.promise, transcript]), transcript };
    });
    await Promise.all(running.map(({ atWork }) => atWork));
    mayBeLost = true;
    await fill(agent, dataDir);

    // Nothing is taken, and everybody is told so; what is there can be read.
    const refused: {
      readonly wire: string;
      readonly body: ReturnType<typeof say>;
      readonly key: string;
    }[] = [];
    const problems: string[] = [];
    const expectUnavailable = async (what: string, call: Promise<unknown>) => {
      const error = await call.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (!isUnavailable(error)) problems.push(`${what}: ${error}`);
    };
    for (const wire of wireNames) {
      const body = sayHere("turn");
      const key = crypto.randomUUID();
      refused.push({ wire, body, key });
      const client = await agent.client(wire);
      const { taskId } = asked;
      await expectUnavailable(
        `${wire} SendMessage`,
        client.sendMessage(body, { headers: { [idempotencyKeyHeader]: key } }),
      );
      await expectUnavailable(`${wire} answer`, client.sendMessage(sayHere("yes", taskId)));
      await expectUnavailable(
        `${wire} SendStreamingMessage`,
        Array.fromAsync(client.sendStreamingMessage(sayHere("stream"))),
      );
      await expectUnavailable(`${wire} CancelTask`, client.cancelTask({ id: taskId }));
      const config = { taskId, id: "config", url: "http://127.0.0.1:1/" };
      await expectUnavailable(
        `${wire} CreateTaskPushNotificationConfig`,
        client.createTaskPushNotificationConfig(config),
      );
      const task = await client.getTask({ id: taskId });
      if (task.status?.state !== TaskState.INPUT_REQUIRED || task.history.length !== 1) {
        problems.push(`${wire}: a question was changed by an answer that was refused`);
      }
      const { totalSize } = await client.listTasks({ contextId });
      if (totalSize !== tasksBefore + commands.length) problems.push(`${wire}: there are ${totalSize} tasks`);
    }
    expect(problems).toEqual([]);

    // There is place again: what was at work ends as after a crash, and what was refused may be sent again.
    await free(agent, dataDir);
    let comparedEvents = 0;
    for (const { command, transcript } of running) {
      const now = await transcript;
      comparedEvents += now.events.length;
      expect(judgeTranscript(command, now, undisturbed.get(command) as Transcript)).toEqual([]); // it has every command
    }
    mayBeLost = false;
    for (const { wire, body, key } of refused) {
      const client = await agent.client(wire);
      const answer = taskOf(await client.sendMessage(body, { headers: { [idempotencyKeyHeader]: key } }));
      expect(answer.status?.state).toBe(TaskState.COMPLETED);
    }
    const client = await agent.client("gRPC");
    const { totalSize } = await client.listTasks({ contextId });
    expect(totalSize).toBe(tasksBefore + commands.length + refused.length);
    await client.cancelTask({ id: asked.taskId });
    await follow(agent, asked.taskId, { wire: "gRPC", seen: asked });

    await using webhooks = await startReceiver();
    expect(findFaults(await playScenario({ service: agent, random: createRandom(1), webhooks }))).toEqual([]);
    report({
      fault: `${name}, while tasks are at work`,
      times: count(5 * wireNames.length, "calls refused"),
      compared: count(comparedEvents, "events"),
    });
  });
});

it("does not start on a database that is read-only, and says which", async () => {
  const dataDir = temporaryDirectory();
  const agent = await startAgent(dataDir);
  agent.signal("SIGTERM");
  await agent.ended;
  const file = storeFile(dataDir);
  chmodSync(file, 0o444);
  chmodSync(dataDir, 0o555);
  asNobody(() => expect(() => createSqliteTaskStore({ file })).toThrow(`cannot open the task store ${file}`));
  chmodSync(dataDir, 0o755);
  using database = new DatabaseSync(file);
  expect({ ...database.prepare("pragma integrity_check").get() }).toEqual({ integrity_check: "ok" });
});

function isUnavailable(error: unknown): boolean {
  return findA2AError(error)?.reason === "UNAVAILABLE";
}

/** Permissions do not bind root. */
function asNobody(run: () => void): void {
  if (process.getuid?.() !== 0) {
    run();
    return;
  }
  process.seteuid?.(65_534);
  try {
    run();
  } finally {
    process.seteuid?.(0);
  }
}
