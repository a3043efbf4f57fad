import { invalidParams } from "@a2a-connect/core";
import { lastEventIdHeader } from "@a2a-connect/core/internal";
import type { HandlerContext } from "@connectrpc/connect";

/**
 * The event after which a caller wants a stream to continue, from the header or the metadata `Last-Event-ID`; undefined
 * when it names none (requirement A-36). Event ids are the generations of a task.
 *
 * @throws ConnectError InvalidArgument when it is no decimal number, negative, or larger than any event id
 */
export function readLastEventId({
  requestHeader,
}: Pick<HandlerContext, "requestHeader">): number | undefined {
  const value = requestHeader.get(lastEventIdHeader);
  if (value === null) {
    return undefined;
  }
  const id = Number(value);
  if (!/^(0|[1-9]\d*)$/.test(value) || !Number.isSafeInteger(id)) {
    throw invalidParams({
      field: lastEventIdHeader,
      description: "must be the id of an event: a decimal number, 0 for all events from the creation on",
    });
  }
  return id;
}
