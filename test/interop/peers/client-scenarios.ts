import { type AgentClient, createPushReceiver } from "@a2a-connect/node/client";
import { TaskState } from "@a2a-connect/proto";
import { expect } from "vitest";

/** What our client does with an agent beyond single calls, by name. */
export const clientScenarios: Readonly<Record<string, (agent: AgentClient) => Promise<void>>> = {
  async "run answers a question after some time"(agent) {
    const result = await agent.run("ask What is your name?", {
      async onInputRequired({ taskId, text }) {
        for (let look = 0; look < 10; look++) await agent.getTask(taskId); // meanwhile the client watches the task
        return `${text} Ada`;
      },
    });
    expect(result.text()).toBe("What is your name? Ada");
    expect(result.task?.status?.state).toBe(TaskState.COMPLETED);
  },

  async "run gets the result by webhook"(agent) {
    await using push = await createPushReceiver();
    const deadlineMs = 3_000; // the client would look for itself after 30 seconds
    const result = await agent.run("task hello", { push, deadlineMs });
    expect(result.artifact("result").text()).toBe("hello");
  },

  async "resume asks the question of a task that waits"(agent) {
    const { payload } = await agent.sendMessage("ask Well?");
    if (payload.case !== "task") throw new Error("the agent answered with a Message");
    const result = await agent.resume(payload.value.id, { onInputRequired: () => "yes" });
    expect(result.text()).toBe("yes");
  },
};
