// B-2. No message of a caller can time what an executor says, so the test has the executor's strings.

import { findServer, wires } from "@a2a-connect/conformance";
import { Role, TaskState } from "@a2a-connect/proto";
import { profileOptions } from "@a2a-connect/reference-agent";
import { startAgentHarness } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";

describe("a task that was canceled", () => {
  it.each(wires)("takes nothing more that its agent says, over %s", async (wire) => {
    const canceled = Promise.withResolvers<void>();
    const said = Promise.withResolvers<void>();
    await using server = await startAgentHarness({
      ...profileOptions("full"),
      agent: {
        card: { name: "Late", skills: [] },
        cancelGraceMs: 50,
        async *execute(turn) {
          yield turn.working("Working.");
          await canceled.promise;
          try {
            yield turn.artifact({ text: "too late" });
          } finally {
            said.resolve();
          }
        },
      },
    });
    using found = await findServer(server.url);
    const client = found.target().client(wire);
    const message = {
      messageId: "1",
      role: Role.USER,
      parts: [{ content: { case: "text", value: "go" } as const }],
    };
    const { payload } = await client.sendMessage({ message, configuration: { returnImmediately: true } });
    const id = payload.case === "task" ? payload.value.id : "";
    // It is answered when the grace period is over and the executor was abandoned.
    const task = await client.cancelTask({ id });
    expect(task.status?.state).toBe(TaskState.CANCELED);
    canceled.resolve();
    await said.promise;
    expect(await client.getTask({ id })).toStrictEqual(task);
  });
});
