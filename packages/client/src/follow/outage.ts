import { Code, ConnectError } from "@connectrpc/connect";
import { InvalidResponseError, UnreachableError } from "../errors.ts";
import { explainFailure } from "../failure.ts";
import type { ClientSettings } from "../settings.ts";
import type { TaskTracker } from "./task-tracker.ts";

/** How long the agent could not be reached. */
export class Outage {
  readonly #settings: ClientSettings;
  readonly #tracker: TaskTracker;
  #sinceMs: number | undefined;
  /** What was wrong with a response, if there was one: it explains more than the broken connections after it. */
  #oddity: InvalidResponseError | undefined;

  constructor(settings: ClientSettings, tracker: TaskTracker) {
    this.#settings = settings;
    this.#tracker = tracker;
  }

  over(): void {
    this.#sinceMs = undefined;
    this.#oddity = undefined;
  }

  /** @throws UnreachableError, or InvalidResponseError, when it has lasted too long */
  failed(error: unknown): void {
    const { clock, retry } = this.#settings;
    this.#sinceMs ??= clock.now();
    const explained = explainFailure(error);
    if (explained instanceof InvalidResponseError) {
      this.#oddity = explained;
    }
    if (clock.now() - this.#sinceMs >= retry.giveUpAfterMs) {
      throw this.#oddity ?? this.#unreachable(error);
    }
  }

  #unreachable(error: unknown): UnreachableError {
    const { taskId } = this.#tracker;
    const reason = error instanceof ConnectError ? error.rawMessage : String(error);
    const code = error instanceof ConnectError ? Code[error.code] : "Unknown";
    return new UnreachableError(
      `The agent could not be reached for ${this.#settings.retry.giveUpAfterMs} ms: ${reason} (${code}).`,
      {
        taskId,
        hint:
          taskId === undefined
            ? "Send it again later, under the same idempotency key if you have set one."
            : "The task goes on without us: follow it again once the agent can be reached.",
        cause: error,
      },
    );
  }
}
