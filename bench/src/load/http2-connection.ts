import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Connection } from "./connection.ts";
import {
  encodeFrame,
  encodePreface,
  encodeWindowUpdate,
  frameFlag,
  frameHeaderBytes,
  frameType,
  maxWindow,
  numberExchange,
} from "./http2-frames.ts";

interface Pending {
  readonly onBody: (chunk: Buffer) => void;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const replenishBytes = 2 ** 29;

/**
 * A cleartext HTTP/2 connection that writes and reads frames straight on the socket; every exchange is a stream of its
 * own. Header fields of answers are not decoded: a call that failed is one whose body is not what it should be. Windows
 * are so large that they never close; request bodies are small, so those of the server are not counted.
 */
export class Http2Connection implements Connection {
  readonly #socket: Socket;
  readonly #streams = new Map<number, Pending>();
  #rest: Buffer = Buffer.alloc(0);
  #nextStream = 1;
  #received = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (data) => this.#take(data as Buffer)); // no encoding is set, so these are bytes
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("the server closed the connection")));
    socket.write(encodePreface());
  }

  static async open(port: number): Promise<Http2Connection> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new Http2Connection(socket);
  }

  /** `request`: one HEADERS and one DATA frame; they are given the number of the stream here. */
  exchange(request: Buffer, onBody: (chunk: Buffer) => void): Promise<void> {
    if (this.#socket.destroyed) {
      return Promise.reject(new Error("the connection has been closed"));
    }
    const stream = this.#nextStream;
    this.#nextStream += 2;
    return new Promise((resolve, reject) => {
      this.#streams.set(stream, { onBody, resolve, reject });
      this.#socket.write(numberExchange(request, stream));
    });
  }

  close(): void {
    this.#streams.clear();
    this.#socket.destroy();
  }

  #take(data: Buffer): void {
    const bytes = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    let offset = 0;
    while (bytes.length - offset >= frameHeaderBytes) {
      const end = offset + frameHeaderBytes + bytes.readUIntBE(offset, 3);
      if (end > bytes.length) {
        break;
      }
      const type = bytes.readUInt8(offset + 3);
      const flags = bytes.readUInt8(offset + 4);
      const stream = bytes.readUInt32BE(offset + 5) & maxWindow;
      this.#handle(type, flags, stream, bytes.subarray(offset + frameHeaderBytes, end));
      offset = end;
    }
    this.#rest = bytes.subarray(offset);
    if (this.#received > replenishBytes) {
      this.#socket.write(encodeWindowUpdate(this.#received));
      this.#received = 0;
    }
  }

  #handle(type: number, flags: number, stream: number, payload: Buffer): void {
    switch (type) {
      case frameType.data:
        this.#received += payload.length;
        if ((flags & frameFlag.padded) !== 0) {
          throw new Error("the load cannot read padded frames");
        }
        this.#streams.get(stream)?.onBody(payload);
        this.#endIf(flags, stream);
        break;
      case frameType.headers:
        this.#endIf(flags, stream);
        break;
      case frameType.rstStream:
        this.#streams.get(stream)?.reject(new Error(`the stream was reset with ${payload.readUInt32BE(0)}`));
        this.#streams.delete(stream);
        break;
      case frameType.settings:
      case frameType.ping:
        if ((flags & frameFlag.ack) === 0) {
          this.#socket.write(
            encodeFrame(type, frameFlag.ack, type === frameType.ping ? payload : Buffer.alloc(0)),
          );
        }
        break;
      case frameType.goaway:
        this.#fail(new Error(`the server says goodbye with ${payload.readUInt32BE(4)}`));
        break;
    }
  }

  #endIf(flags: number, stream: number): void {
    if ((flags & frameFlag.endStream) !== 0) {
      this.#streams.get(stream)?.resolve();
      this.#streams.delete(stream);
    }
  }

  #fail(error: Error): void {
    for (const { reject } of this.#streams.values()) {
      reject(error);
    }
    this.#streams.clear();
  }
}
