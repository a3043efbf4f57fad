import type { Message } from "@a2a-connect/proto";
import type { AssertGoesOn, DurableRun } from "./durable-run.ts";
import { isCut, replayResult, untilMayBegin, waitUntilOver } from "./durable-wait.ts";
import type { Journal, QueuedMessage } from "./journal.ts";
import { isResult } from "./journal-codec.ts";
import type { Wait } from "./waits.ts";

/**
 * The messages that came while a durable executor was at work, oldest first. The journal stores the sequence of each
 * message that was taken, so that the same `take` or `poll` gets it in every run.
 */
export class DurableInbox {
  readonly #messages = new Map<number, Message>();
  /** Sequences of the messages that the executor may take, oldest first. A `Set` would pass over all that were taken before to find the next one. */
  #arrivals: number[] = [];
  /** How many of them were taken. */
  #taken = 0;
  readonly #waits = new Set<Wait>();

  /** The messages in the log from before. */
  load({ queued, untaken }: Journal): void {
    // Messages that came while the log was read. They are its newest ones, or newer.
    const early = [...this.#messages].map(([sequence, message]) => ({ sequence, message }));
    this.#messages.clear();
    for (const { sequence, message } of [...queued, ...early]) {
      this.#messages.set(sequence, message);
    }
    this.#arrivals = [...new Set([...untaken, ...early].map(({ sequence }) => sequence))];
    this.#taken = 0;
  }

  /** A message has come. The log may have had it already. */
  deliver({ sequence, message }: QueuedMessage): void {
    if (this.#messages.has(sequence)) {
      return;
    }
    this.#messages.set(sequence, message);
    this.#arrivals.push(sequence);
    for (const wait of this.#waits) {
      this.#waits.delete(wait);
      wait.end(); // a reader that finds no message waits again
      return;
    }
  }

  /** Takes the oldest message and returns its sequence. */
  draw(): number | undefined {
    const sequence = this.#arrivals[this.#taken];
    if (sequence !== undefined) {
      this.#taken += 1;
    } else {
      this.#arrivals = []; // nothing of them is needed any more
      this.#taken = 0;
    }
    return sequence;
  }

  /** The next message; waits for it. @throws TurnAbort when the executor is told to stop meanwhile */
  async take(run: DurableRun, assertGoesOn: AssertGoesOn): Promise<Message> {
    const { journal, waits } = run;
    const op = journal.next("inbox.take");
    const known = journal.find(op);
    if (isResult(known)) {
      return this.open(run, await waits.keepBusy(() => replayResult<number>(run, known)));
    }
    const isCleanup = run.stopped !== undefined;
    await untilMayBegin(run, assertGoesOn);
    if (isCut(run, undefined, isCleanup)) {
      const cut = journal.conclude({ op, kind: "aborted" });
      return waits.keepBusy(() => replayResult<never>(run, cut));
    }
    let sequence = this.draw();
    while (sequence === undefined) {
      const wait = waits.begin();
      this.#waits.add(wait);
      await waitUntilOver(run, op, wait, assertGoesOn).finally(() => this.#waits.delete(wait));
      sequence = this.draw();
    }
    const taken = journal.conclude({ op, kind: "value", value: sequence });
    return this.open(run, await waits.keepBusy(() => replayResult<number>(run, taken)));
  }

  /** The record of a taken message. */
  open({ live, diverge }: Pick<DurableRun, "live" | "diverge">, sequence: number): Message {
    const message = this.#messages.get(sequence);
    if (message === undefined) {
      throw diverge("a message that was taken is not in the log");
    }
    live.messages.queue.take(sequence);
    return message;
  }
}
