import { InputModeError } from "@a2a-connect/client";
import { bytes } from "@a2a-connect/core";
import { type Message, type StreamResponse, TaskState } from "@a2a-connect/proto";
import { expect } from "vitest";
import { collect, rejectedWith } from "../../client/contract-target.ts";
import { clientScenarios } from "./client-scenario.ts";
import { connectOver } from "./every-operation.ts";
import { chunkEvent, contextId, peerTask, startPeer, statusEvent, taskEvent, taskId } from "./peer.ts";

const { WORKING, COMPLETED, INPUT_REQUIRED } = TaskState;

/** Lists, questions, and what a client relies on. */
export const tasks = clientScenarios("Tasks, as the client handles them", (verifies) => {
  verifies("A-42", "are listed page by page, until a page says that it is the last", async (wire) => {
    // The third page is empty, and is not the last for that.
    const pages = ["", "+/=& 2", "three", "four"];
    const asked: string[] = [];
    await using peer = await startPeer({
      service: {
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
      },
    });
    await using agent = await connectOver(wire, peer);
    expect((await collect(agent.listTasks())).map(({ id }) => id)).toEqual(["task-0", "task-1", "task-3"]);
    expect(asked).toEqual(pages);
  });

  verifies("A-63", "are sent by the extended card, once that has taken the place of the public one", async (wire) => {
    const other = await startPeer();
    await other[Symbol.asyncDispose]();
    const extended = { ...other.card, name: "For you", defaultInputModes: ["text/plain", "image/png"] };
    await using peer = await startPeer({ service: { getExtendedAgentCard: () => extended } });
    await using agent = await connectOver(wire, peer);
    const picture = [bytes(new Uint8Array([1]), { mediaType: "image/png" })];
    await rejectedWith(agent.sendMessage(picture), InputModeError);
    expect(peer.requests).toEqual([]);
    await agent.getExtendedCard();
    expect(agent.card.name).toBe("For you");
    await agent.sendMessage(picture);
    expect(peer.requests.map(({ method }) => method)).toEqual(["GetExtendedAgentCard", "SendMessage"]);
  });

  verifies("B-5", "that ask are answered by a message that names them", async (wire) => {
    const got: (Message | undefined)[] = [];
    await using peer = await startPeer({
      service: {
        sendMessage: ({ message }) => {
          got.push(message);
          return { payload: { case: "task", value: peerTask(WORKING) } };
        },
        sendStreamingMessage: ({ message }) => {
          got.push(message);
          return got.length === 1
            ? events(taskEvent(WORKING), statusEvent(INPUT_REQUIRED, "which colour?"))
            : events(taskEvent(WORKING), chunkEvent("answer", "red it is", false), statusEvent(COMPLETED));
        },
        subscribeToTask: () =>
          got.length === 1
            ? events(taskEvent(INPUT_REQUIRED))
            : events(taskEvent(WORKING), chunkEvent("answer", "red it is", false), statusEvent(COMPLETED)),
      },
    });
    await using agent = await connectOver(wire, peer, { retry: { initialDelayMs: 1, maxDelayMs: 2 } });
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
    await using peer = await startPeer({
      service: {
        sendStreamingMessage: () =>
          events(
            taskEvent(WORKING),
            statusEvent(WORKING, "looking"),
            chunkEvent("answer", "42", false),
            statusEvent(COMPLETED, "that was all"),
          ),
        getTask: () =>
          peerTask(COMPLETED, { history: [], artifacts: [{ artifactId: "answer", parts: [] }] }),
      },
    });
    await using agent = await connectOver(wire, peer);
    const result = await agent.run("ask");
    expect(result.artifacts.map(({ artifactId }) => artifactId)).toEqual(["answer"]);
  });
});

async function* events(...list: readonly StreamResponse[]): AsyncGenerator<StreamResponse, void> {
  yield* list;
}
