import type { StreamResponse, Task } from "@a2a-connect/proto";

/** Shows a conversation. */
export interface ChatView {
  /** Called once, before the first line. */
  greet(): Promise<void>;
  /** One event of the agent. */
  event(event: StreamResponse): Promise<void>;
  /** What followed on a message is over; `task` is what it went to, unless that goes on without us. */
  settled(task: Task | undefined): Promise<void>;
  /** A task on request: its ids, its state, what it has. */
  task(task: Task): Promise<void>;
  /** Words of the chat itself. */
  say(sentence: string): Promise<void>;
  /**
   * Something went wrong. The chat goes on where this resolves.
   *
   * @throws the error, where the chat is to end with it
   */
  failure(error: unknown): Promise<void>;
}
