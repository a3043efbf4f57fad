import { InputModeError } from "@a2a-connect/client";
import { bytes } from "@a2a-connect/core";
import { type Message, TaskState } from "@a2a-connect/proto";
import { expect } from "vitest";
import { collect, rejectedWith } from "../../../packages/client/test-support/outcomes.ts";
import { clientScenarios } from "./client-scenario.ts";
import { meetPeer } from "./every-operation.ts";
import {
  chunkEvent,
  contextId,
  events,
  peerEvent,
  peerTask,
  startPeer,
  statusEvent,
  taskAfter,
  taskAnswer,
  taskEvent,
  taskId,
} from "./peer.ts";

const { WORKING, COMPLETED, INPUT_REQUIRED } = TaskState;

/** Lists, questions, and what a client relies on. */
export const tasks = clientScenarios("Tasks, as the client handles them", (verifies) => {
  verifies("A-42", "are listed page by page, until a page says that it is the last", async (wire) => {
    // The third page is empty, and is not the last for that.
    const pages = ["", "+/=& 2", "three", "four"];
    const asked: string[] = [];
    const { agent } = await meetPeer(wire, {
      listTasks: ({ pageToken }) => {
        asked.push(pageToken);
        const page = pages.indexOf(pageToken);
        return {
          tasks: page === 2 ? [] : [{ ...peerTask(COMPLETED), id: `task-${page}` }],
          nextPageToken: pages[page + 1] ?? "",
          pageSize: 1,
          totalSize: 3,
        };
      },
    });
    expect((await collect(agent.listTasks())).map(({ id }) => id)).toEqual(["task-0", "task-1", "task-3"]);
    expect(asked).toEqual(pages);
  });

  verifies(
    "A-63",
    "are sent by the extended card, once that has taken the place of the public one",
    async (wire) => {
      const other = await startPeer();
      await other[Symbol.asyncDispose]();
      const extended = { ...other.card, name: "For you", defaultInputModes: ["text/plain", "image/png"] };
      const { peer, agent } = await meetPeer(wire, { getExtendedAgentCard: () => extended });
      const picture = [bytes(new Uint8Array([1]), { mediaType: "image/png" })];
      await rejectedWith(agent.sendMessage(picture), InputModeError);
      expect(peer.requests).toEqual([]);
      await agent.getExtendedCard();
      expect(agent.card.name).toBe("For you");
      await agent.sendMessage(picture);
      expect(peer.requests.map(({ method }) => method)).toEqual(["GetExtendedAgentCard", "SendMessage"]);
    },
  );

  verifies("B-5", "that ask are answered by a message that names them", async (wire) => {
    const got: (Message | undefined)[] = [];
    const before = [taskEvent(WORKING), statusEvent(INPUT_REQUIRED, "which colour?")];
    const after = [statusEvent(WORKING), chunkEvent("answer", "red it is", false), statusEvent(COMPLETED)];
    const current = () => taskAfter(...before, ...(got.length > 1 ? after : []));
    const { agent } = await meetPeer(
      wire,
      {
        sendMessage: ({ message }) => {
          got.push(message);
          return taskAnswer(current());
        },
        sendStreamingMessage: ({ message }) => {
          got.push(message);
          return events(...before);
        },
        subscribeToTask: () =>
          events(peerEvent({ case: "task", value: taskAfter(...before) }), ...(got.length > 1 ? after : [])),
        getTask: current,
      },
      { retry: { initialDelayMs: 1, maxDelayMs: 2 } },
    );
    const asked: string[] = [];
    const result = await agent.run("paint", {
      onInputRequired: ({ text }) => {
        asked.push(text);
        return "red";
      },
    });
    expect(asked).toEqual(["which colour?"]);
    expect(result.text()).toBe("red it is");
    expect(got.map((message) => message?.taskId)).toEqual(["", taskId]);
    expect(["", contextId]).toContain(got[1]?.contextId);
    expect(new Set(got.map((message) => message?.messageId)).size).toBe(2);
  });

  verifies("C-3", "have their results in artifacts, whatever messages the agent keeps", async (wire) => {
    const told = [
      taskEvent(WORKING),
      statusEvent(WORKING, "looking"),
      chunkEvent("answer", "42", false),
      statusEvent(COMPLETED, "that was all"),
    ];
    const { agent } = await meetPeer(wire, {
      sendStreamingMessage: () => events(...told),
      getTask: () => ({ ...taskAfter(...told), history: [] }),
    });
    const result = await agent.run("ask");
    expect(result.text()).toBe("42");
    expect(result.task?.history).toEqual([]);
  });
});
