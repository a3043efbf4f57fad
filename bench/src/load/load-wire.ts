import type { RpcMethod } from "@a2a-connect/core";
import type { Message } from "@bufbuild/protobuf";
import type { Target } from "../servers/control.ts";
import type { Connection } from "./connection.ts";
import type { EventCounter } from "./event-counter.ts";

/** Header fields of a request, lower-case. */
export type HeaderFields = Readonly<Record<string, string>>;

/** One wire as the load speaks it. */
export interface LoadWire {
  readonly name: string;
  /** Whether the peer speaks it too. */
  readonly shared: boolean;
  /** Connections for so many exchanges at a time. */
  open(target: Target, count: number): Promise<readonly Connection[]>;
  /** A request, ready for the socket; `fields` are further header fields. */
  encode(target: Target, method: RpcMethod, request: Message, fields?: HeaderFields): Buffer;
  /** Sends such a request over a connection of its own, and never reads. Disposing ends the connection. */
  openStalled(target: Target, request: Buffer): Promise<Disposable>;
  /** Message count of a streaming answer. */
  createEventCounter(): EventCounter;
  /** The JSON form of a unary answer's result. @throws Error when it is an error */
  decode(method: RpcMethod, body: Buffer): unknown;
  /** Whether a unary answer looks like a success; cheap enough for every answer. */
  isSuccess(body: Buffer): boolean;
}
