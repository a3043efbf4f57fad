/** The clients that are compared: ours, that of the npm package @a2a-js/sdk, and Connect's with nothing around it. */
export const clientKinds = ["agent", "sdk", "connect"] as const;

/** One of the clients. */
export type ClientKind = (typeof clientKinds)[number];

/** The wires that all of them speak, by their names in a card. */
export const clientWires = ["JSONRPC", "HTTP+JSON", "GRPC"] as const;

/** One of those wires. */
export type ClientWire = (typeof clientWires)[number];

/** A client of the bench's agent, over one wire. */
export interface BenchClient {
  /** Sends a command that makes a task and waits for what comes of it. @throws Error when it is not what it should be */
  finish(command: string): Promise<void>;
  /** Sends a command and reads the events of its task to the end. Resolves with how many there were. */
  countEvents(command: string): Promise<number>;
}

/** Events of a task beside its chunks: creation, WORKING, COMPLETED. */
export const otherEvents = 3;

/** @throws Error when a task of one artifact did not come in full */
export function requireWholeTask(events: number): void {
  if (events !== otherEvents + 1) {
    throw new Error(`the task had ${events} events instead of ${otherEvents + 1}`);
  }
}
