import { shownText } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import { InvalidResponseError, UnreachableError } from "../errors.ts";
import { explainFailure } from "../failure.ts";
import type { ClientSettings } from "../settings.ts";
import type { TaskTracker } from "./task-tracker.ts";

/** Failures in a row until the caller is told. One alone is nothing: servers and proxies end connections now and then. */
const noticedFailures = 2;

/** How long the agent could not be reached. */
export class Outage {
  readonly #settings: ClientSettings;
  readonly #tracker: TaskTracker;
  #sinceMs: number | undefined;
  #failures = 0;
  /** What was wrong with a response, if there was one: it explains more than the broken connections after it. */
  #oddity: InvalidResponseError | undefined;

  constructor(settings: ClientSettings, tracker: TaskTracker) {
    this.#settings = settings;
    this.#tracker = tracker;
  }

  over(): void {
    this.#sinceMs = undefined;
    this.#failures = 0;
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
    const leftMs = retry.giveUpAfterMs - (clock.now() - this.#sinceMs);
    if (leftMs <= 0) {
      throw this.#oddity ?? this.#unreachable(error);
    }
    this.#failures += 1;
    if (this.#failures === noticedFailures) {
      const howLong = leftMs === Number.POSITIVE_INFINITY ? "until it answers" : `for ${shownTime(leftMs)}`;
      this.#settings.onWarning(`Connection lost, trying again ${howLong}: ${shownText(reasonOf(error))}.`);
    }
  }

  #unreachable(error: unknown): UnreachableError {
    const { taskId } = this.#tracker;
    const reason = reasonOf(error);
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

function reasonOf(error: unknown): string {
  return error instanceof ConnectError ? error.rawMessage : String(error);
}

/** `4 min 50 s`, rounded up. */
function shownTime(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  const rest = minutes > 0 && seconds % 60 === 0 ? "" : `${seconds % 60} s`;
  return minutes === 0 ? rest : `${minutes} min ${rest}`.trim();
}
