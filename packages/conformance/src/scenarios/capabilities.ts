import { findA2AError } from "@a2a-connect/core";
import { Code, type ConnectError } from "@connectrpc/connect";
import { expectReason, failureOf, newId, readAll, showCode } from "../calls.ts";
import { type ScenarioGroup, scenarios } from "../scenario.ts";

/** What an agent says when it cannot do something. */
const refusals: ReadonlySet<unknown> = new Set([
  Code.Unimplemented,
  "UNSUPPORTED_OPERATION",
  "PUSH_NOTIFICATION_NOT_SUPPORTED",
]);

/** A.3 and A.5, as far as they show without a task. */
export const capabilities: ScenarioGroup = scenarios("A Capabilities of the card", ({ anyAgent }) => {
  anyAgent.where({ when: ["streaming"] })(
    "A-34",
    "knows SubscribeToTask when its card declares streaming",
    async ({ client }) =>
      expectKnown(await failureOfEither(readAll(client.subscribeToTask({ id: newId() })))),
  );

  anyAgent.where({ when: ["no-streaming"], server: "bare" })(
    "A-20",
    "refuses to subscribe when its card does not declare streaming",
    async ({ client }) => {
      await expectReason(client.subscribeToTask({ id: newId() }), "UNSUPPORTED_OPERATION");
    },
  );

  anyAgent.where({ when: ["push"], server: "push" })(
    "A-55",
    "knows the webhooks of a task when its card declares push",
    async ({ client }) => {
      const listed = client.listTaskPushNotificationConfigs({ taskId: newId() });
      expectKnown(await failureOfEither(listed));
    },
  );
});

/** What a call failed with; undefined for one that was answered. */
function failureOfEither(call: Promise<unknown>): Promise<ConnectError | undefined> {
  return call.then(
    () => undefined,
    (error: unknown) => failureOf(Promise.reject(error)),
  );
}

function expectKnown(error: ConnectError | undefined): void {
  if (error === undefined) return;
  const reason = findA2AError(error)?.reason;
  if (refusals.has(error.code) || refusals.has(reason)) {
    throw new Error(
      `the operation is refused as one that is not there: ${reason ?? showCode(error.code)}, ${error.rawMessage}`,
    );
  }
}
