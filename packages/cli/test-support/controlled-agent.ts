import { setTimeout as pause } from "node:timers/promises";
import { bytes, fileUrl, json, text } from "@a2a-connect/core";
import { type ServedAgent, type ServeOptions, serve } from "@a2a-connect/node";
import { createMemoryTaskStore, defineAgent, type Turn, type TurnEvent } from "@a2a-connect/server";

/** An agent that does what the first word of a message says, on a port of its own. */
export interface ControlledAgent extends AsyncDisposable {
  readonly url: string;
  /** Lets the tasks go on that were told to `hold`. */
  release(): void;
}

/** Starts it. Push notifications may go to this machine. */
export async function startControlledAgent(options: ServeOptions = {}): Promise<ControlledAgent> {
  const gate = Promise.withResolvers<void>();
  const agent = defineAgent({
    card: {
      name: "controlled",
      description: "For tests.",
      version: "1.0.0",
      defaultInputModes: ["*/*"],
      defaultOutputModes: ["*/*"],
      skills: [{ id: "main", name: "Main", description: "Everything.", tags: ["test"] }],
    },
    lifecycle: { asks: true, asksForAuth: true },
    execute: (turn) => act(turn, gate.promise),
  });
  const served: ServedAgent = await serve(agent, {
    store: createMemoryTaskStore(),
    push: { allow: ["127.0.0.1", "localhost"] },
    ...options,
  });
  return {
    url: served.url,
    release: gate.resolve,
    [Symbol.asyncDispose]: () => served.close({ graceMs: 0, timeoutMs: 1_000 }),
  };
}

async function* act(turn: Turn, gate: Promise<void>): AsyncGenerator<TurnEvent> {
  const first = turn.message.parts[0]?.content;
  const [verb = "", ...words] = first?.case === "text" ? first.value.split(" ") : [];
  const rest = words.join(" ");
  if (turn.task !== undefined) {
    yield turn.artifact({ name: "answer", text: `You said ${turn.text}.` });
    return;
  }
  switch (verb) {
    case "echo":
      yield turn.reply(rest);
      return;
    case "repeat":
      yield turn.artifact({ name: "repeated", parts: turn.message.parts });
      return;
    case "metadata":
      yield turn.artifact({ name: "metadata", data: turn.message.metadata ?? null });
      return;
    case "parts":
      yield turn.artifact({
        id: "parts",
        parts: [
          text("some text"),
          json({ a: [1, 2] }),
          bytes(new Uint8Array([1, 2, 3]), { filename: "../three.bin", mediaType: "application/x-three" }),
          fileUrl("https://example.com/far.pdf", { mediaType: "application/pdf" }),
        ],
      });
      return;
    case "files":
      yield turn.artifact({ id: "one", parts: [bytes(new Uint8Array([1]), { filename: "same.bin" })] });
      yield turn.artifact({ id: "two", parts: [bytes(new Uint8Array([2]), { filename: "a/b/same.bin" })] });
      return;
    case "many":
      yield turn.artifact({ id: "first", parts: Array.from({ length: 600 }, (_, index) => json(index)) });
      yield turn.artifact({ id: "second", parts: Array.from({ length: 401 }, (_, index) => json(index)) });
      return;
    case "far":
      yield turn.artifact({ name: "far", parts: [fileUrl(rest)] });
      return;
    case "ask":
      yield turn.inputRequired([text("Which colour?"), json({ choices: ["red", "green"] })]);
      return;
    case "auth":
      yield turn.authRequired("Sign in first.");
      return;
    case "fail":
      yield turn.fail(rest, { reason: "on-purpose" });
      return;
    case "reject":
      yield turn.reject(rest);
      return;
    case "hold":
      yield turn.working("holding");
      await untilReleased(turn, gate);
      yield turn.artifact({ name: "held", text: rest });
      return;
    default:
      yield turn.working("working");
      yield turn.artifact({ name: "result", text: rest });
  }
}

/** Until the test says so, or the task is to stop. */
async function untilReleased(turn: Turn, gate: Promise<void>): Promise<void> {
  const stop = new AbortController();
  const forever = pause(2 ** 31 - 1, undefined, { signal: AbortSignal.any([turn.signal, stop.signal]) });
  try {
    await Promise.race([gate, forever]);
  } finally {
    stop.abort();
    await forever.catch(() => {});
  }
}
