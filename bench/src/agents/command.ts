/** What the bench asks an agent to do: the first text part of the message. The same words mean the same on both sides. */
export type Command =
  /** A direct Message with the text. */
  | { readonly kind: "echo"; readonly text: string }
  /** WORKING, one artifact, COMPLETED. */
  | { readonly kind: "task"; readonly text: string }
  /** WORKING, so many chunks of one artifact, each on a turn of the event loop of its own, COMPLETED. */
  | { readonly kind: "stream"; readonly chunks: number }
  /** The same without ever waiting for anything. */
  | { readonly kind: "burst"; readonly chunks: number }
  /** WORKING, so many updates of one artifact, each replacing the one before (see `update`), COMPLETED. */
  | { readonly kind: "replace"; readonly updates: number; readonly bytes: number }
  /** WORKING, and nothing more until the server goes away. */
  | { readonly kind: "hold" }
  /** INPUT_REQUIRED, for so many milliseconds. */
  | { readonly kind: "question"; readonly timeoutMs: number }
  /** A direct Message; whoever waits at the gate goes on. */
  | { readonly kind: "go" }
  /** What only durable executors can do. */
  | DurableCommand;

/** What a durable executor does; the peer has none. */
export type DurableCommand =
  /** INPUT_REQUIRED, for so many milliseconds. */
  | { readonly kind: "ask"; readonly timeoutMs: number }
  /** Sleeps so many milliseconds. */
  | { readonly kind: "nap"; readonly ms: number }
  /** One step that takes until the server goes away. */
  | { readonly kind: "labour" }
  /** So many steps that do nothing, one after the other. */
  | { readonly kind: "steps"; readonly steps: number };

/** A command, and whether it is to begin only when the gate is opened (after WORKING). */
export interface Order {
  readonly command: Command;
  readonly gated: boolean;
}

/** Id of the artifact that every command gives out. */
export const artifactId = "output";

/** One chunk of a stream: 100 bytes of text. */
export const chunk: string = "0123456789".repeat(10);

const updateHead = "update ";

/** The text of one `replace` update: its number, and as many bytes as are wanted. */
export function update(ordinal: number, bytes: number): string {
  return `${updateHead}${String(ordinal).padStart(bytes - updateHead.length, "0")}`;
}

/** The number that `update` put into a text; 0 for another text. */
export function updateOrdinal(text: string): number {
  return text.startsWith(updateHead) ? Number(text.slice(updateHead.length)) : 0;
}

const durableKinds: ReadonlySet<string> = new Set<DurableCommand["kind"]>(["ask", "nap", "labour", "steps"]);
const gate = "gated ";

/** @throws Error for words that are no command */
export function parseOrder(text: string): Order {
  const gated = text.startsWith(gate);
  return { command: parseCommand(gated ? text.slice(gate.length) : text), gated };
}

/** Whether a durable executor is needed. */
export function isDurable(command: Command): command is DurableCommand {
  return durableKinds.has(command.kind);
}

function parseCommand(text: string): Command {
  const [kind, rest = ""] = text.split(/ (.*)/s, 2);
  switch (kind) {
    case "echo":
    case "task":
      return { kind, text: rest };
    case "stream":
    case "burst":
      return { kind, chunks: Number(rest) };
    case "replace": {
      const [updates, bytes] = rest.split(" ").map(Number);
      return { kind, updates: updates ?? 0, bytes: bytes ?? 0 };
    }
    case "question":
    case "ask":
      return { kind, timeoutMs: Number(rest) };
    case "nap":
      return { kind, ms: Number(rest) };
    case "steps":
      return { kind, steps: Number(rest) };
    case "hold":
    case "labour":
    case "go":
      return { kind };
    default:
      throw new Error(`"${text}" is no command of the bench`);
  }
}
