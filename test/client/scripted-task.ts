import { isTerminal } from "@a2a-connect/core";
import { type A2AService, type StreamResponse, type Task, TaskState } from "@a2a-connect/proto";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { statusEvent, taskAfter, taskAnswer, taskEvent } from "../conformance/client/peer.ts";

/** What a peer does for each operation. */
export type PeerService = Partial<ServiceImpl<typeof A2AService>>;

/** The one task of a peer, which does what a test says. Its events have no numbers. */
export interface ScriptedTask {
  /** Streams that stay open, the task as it is, messages that are taken, and an end by CancelTask. */
  readonly service: PeerService;
  /** The task as it is. */
  readonly current: Task;
  /** Lets these events happen. */
  tell(...events: readonly StreamResponse[]): void;
}

/** @param first what has happened once the message is there; default: it works, and asks "Which?" */
export function scriptTask(first: readonly StreamResponse[] = asksAtOnce): ScriptedTask {
  const log: StreamResponse[] = [];
  let changed = Promise.withResolvers<void>();
  const current = (): Task => taskAfter(...log);
  const tell = (...events: readonly StreamResponse[]): void => {
    log.push(...events);
    changed.resolve();
    changed = Promise.withResolvers();
  };

  async function* follow(at: number, { signal }: HandlerContext): AsyncGenerator<StreamResponse, void> {
    const gone = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    for (let next = at; !signal.aborted; ) {
      const change = changed.promise;
      for (; next < log.length; next += 1) {
        const event = log[next];
        if (event !== undefined) yield event;
      }
      if (isTerminal(current().status?.state ?? TaskState.UNSPECIFIED)) return;
      await Promise.race([change, gone]);
    }
  }

  return {
    tell,
    get current() {
      return current();
    },
    service: {
      sendStreamingMessage: (_, context) => {
        if (log.length === 0) tell(...first);
        return follow(0, context);
      },
      async *subscribeToTask(_, context) {
        yield { payload: { case: "task", value: current() } };
        yield* follow(log.length, context);
      },
      sendMessage: () => {
        if (log.length === 0) tell(...first);
        return taskAnswer(current());
      },
      getTask: current,
      cancelTask: () => {
        tell(statusEvent(TaskState.CANCELED));
        return current();
      },
    },
  };
}

/** What the task says that asks at once. */
export const asksAtOnce: readonly StreamResponse[] = [
  taskEvent(TaskState.SUBMITTED),
  statusEvent(TaskState.INPUT_REQUIRED, "Which?"),
];

/** A promise that nothing comes of: a person who has gone home. */
export const never: Promise<never> = new Promise(() => {});
