import { a2aError } from "@a2a-connect/core";
import {
  type CallRuntime,
  type Holding,
  isLarge,
  runtimeKey,
  SharedBudget,
  scaleToHeap,
} from "@a2a-connect/core/internal";
import type { Message } from "@bufbuild/protobuf";
import { weighMessage } from "../engine/memory-weight.ts";
import type { Gate, GatedCall } from "../gates/protocol-gates.ts";

/**
 * Undefined: the call has passed. A promise: a gate has to wait, meanwhile the message counts (`holdMessage`), and what comes after it
 * has a turn: thousands of calls may have waited for one answer of an authorization server.
 */
export function pass(call: GatedCall, gates: readonly Gate[], first = 0): Promise<void> | undefined {
  for (let index = first; index < gates.length; index++) {
    const waiting = gates[index]?.(call);
    if (waiting !== undefined) {
      waiting.catch(() => {}); // no code waits for it when there is no room for the message
      const runtime = call.context.values.get(runtimeKey);
      const held = holdMessage(call.request, runtime);
      return waiting
        .finally(async () => {
          await runtime.turnToGoOn?.();
          held?.end();
        })
        .then(() => pass(call, gates, index + 1));
    }
  }
  return undefined;
}

/** When a caller may try again. */
const retryAfterSeconds = "1";

/** Memory of the messages of all calls of a process whose credentials are being checked. */
const maxBytes = scaleToHeap(256 * 2 ** 20);

/** About the encoded bytes up to which a message does not count: its headers take as much. */
const shortBytes = 1024;

const messages = new SharedBudget({
  max: maxBytes,
  maxShare: 1 / 4, // anyone may send these: callers from a few addresses must leave room for others
  small: 64 * 1024,
  refuse: () =>
    a2aError(
      "CAPACITY",
      `messages whose senders' credentials are being checked take most of ${maxBytes} bytes; try again in ${retryAfterSeconds} second or later`,
      { retryAfterSeconds },
    ),
});

/**
 * Counts the message of a call that waits for a gate: its body counts no more, and no task has it yet.
 *
 * @returns what it has, until the call has passed or was refused; undefined: it is short
 * @throws ConnectError CAPACITY when there is no room for it
 */
function holdMessage(request: Message, caller: Pick<CallRuntime, "callerNetwork">): Holding | undefined {
  if (!isLarge(request, shortBytes)) return undefined;
  const held = messages.open(caller.callerNetwork);
  held.add(weighMessage(request));
  return held;
}
