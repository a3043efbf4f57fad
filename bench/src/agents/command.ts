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
  /** WORKING, and nothing more until the server goes away. */
  | { readonly kind: "hold" };

/** Id of the artifact that every command gives out. */
export const artifactId = "output";

/** One chunk of a stream: 100 bytes of text. */
export const chunk: string = "0123456789".repeat(10);

/** @throws Error for words that are no command */
export function parseCommand(text: string): Command {
  const [kind, rest = ""] = text.split(/ (.*)/s, 2);
  switch (kind) {
    case "echo":
    case "task":
      return { kind, text: rest };
    case "stream":
    case "burst":
      return { kind, chunks: Number(rest) };
    case "hold":
      return { kind };
    default:
      throw new Error(`"${text}" is no command of the bench`);
  }
}
