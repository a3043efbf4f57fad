import { eventIdHeader } from "@a2a-connect/bindings";
import { type EventIds, eventIdsKey } from "@a2a-connect/bindings/client";
import type { StreamResponse } from "@a2a-connect/proto";
import { type CallOptions, Code, ConnectError, createContextValues } from "@connectrpc/connect";
import type { ClientClock } from "../clock.ts";
import { SilenceError } from "../platform.ts";
import { SilenceWatch } from "./silence-watch.ts";
import type { NumberedResponse } from "./task-tracker.ts";

/** How one connection is watched. */
export interface EventStreamOptions {
  readonly signal: AbortSignal;
  readonly clock: ClientClock;
  /** Silence that ends it. */
  readonly idleTimeoutMs: number;
}

/**
 * The messages of one connection, numbered: the response's header says the number of the first one, the others count up
 * from it (docs/streams.md). Where server-sent events have ids of their own, those count.
 *
 * @param call opens the connection
 * @throws ConnectError Unavailable after `idleTimeoutMs` of silence; whatever the call throws
 */
export async function* readEventStream(
  call: (options: CallOptions) => AsyncIterable<StreamResponse>,
  { signal, clock, idleTimeoutMs }: EventStreamOptions,
): AsyncGenerator<NumberedResponse, void> {
  const watch = new SilenceWatch(clock, idleTimeoutMs);
  const ids: EventIds = { last: "" };
  const over = new AbortController();
  let next: number | undefined;
  let lastGeneration = 0n;
  try {
    const messages = call({
      signal: AbortSignal.any([signal, watch.signal, over.signal]),
      contextValues: createContextValues().set(eventIdsKey, ids),
      onHeader: (header) => {
        next = parseId(header.get(eventIdHeader));
        watch.heard();
      },
    });
    for await (const response of messages) {
      watch.pause(); // what the caller takes its time for is no silence
      const id = next === undefined ? undefined : (parseId(ids.last) ?? next);
      const generation = generationOf(response);
      const repeatsGeneration = isUpdate(response) && generation > 0n && generation === lastGeneration;
      yield { response, id, repeatsGeneration };
      lastGeneration = generation;
      next = id === undefined ? undefined : id + 1;
      watch.heard();
    }
  } catch (error) {
    if (watch.signal.aborted && !signal.aborted) {
      const silence = new SilenceError("nothing was heard", { cause: error });
      throw new ConnectError(
        `nothing was heard for ${idleTimeoutMs} ms`,
        Code.Unavailable,
        undefined,
        undefined,
        silence,
      );
    }
    throw error;
  } finally {
    watch.stop();
    over.abort(isLeft); // Connect's streams know no return(): whoever leaves early has to end the call
  }
}

/** An abort without a reason makes one, with a stack, each time. */
const isLeft = new Error("the stream was left");

/** Whether an error is the end of a silent connection. */
export function isSilence(error: unknown): boolean {
  return error instanceof ConnectError && error.cause instanceof SilenceError;
}

/** The number that an event of A2A 1.1 has in itself; 0 for none. */
function generationOf({ payload }: StreamResponse): bigint {
  return payload.case === undefined || payload.case === "message" ? 0n : payload.value.generation;
}

/** A Task may be sent again as it is; an update is always something new. */
function isUpdate({ payload }: StreamResponse): boolean {
  return payload.case === "statusUpdate" || payload.case === "artifactUpdate";
}

function parseId(value: string | null): number | undefined {
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
