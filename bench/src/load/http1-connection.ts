import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Connection } from "./connection.ts";

interface Pending {
  readonly onBody: (chunk: Buffer) => void;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

type Expecting = "head" | "sized" | "chunk-head" | "chunk" | "chunk-end" | "trailer";

const nothing: Buffer = Buffer.alloc(0);

/**
 * A kept-alive HTTP/1.1 connection that reads answers straight off the socket. It knows just what the servers of the
 * bench send: answers with a length or in chunks, one at a time.
 */
export class Http1Connection implements Connection {
  readonly #socket: Socket;
  #rest: Buffer = nothing;
  #expecting: Expecting = "head";
  #remaining = 0;
  #failure: string | undefined;
  #pending: Pending | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (data) => this.#take(data as Buffer)); // no encoding is set, so these are bytes
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("the server closed the connection")));
  }

  static async open(port: number): Promise<Http1Connection> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new Http1Connection(socket);
  }

  exchange(request: Buffer, onBody: (chunk: Buffer) => void): Promise<void> {
    if (this.#socket.destroyed) {
      return Promise.reject(new Error("the connection has been closed"));
    }
    return new Promise((resolve, reject) => {
      this.#pending = { onBody, resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#pending = undefined;
    this.#socket.destroy();
  }

  #take(data: Buffer): void {
    this.#rest = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    while (this.#step());
  }

  /** Consumes one piece of the answer. False: more bytes are needed. */
  #step(): boolean {
    switch (this.#expecting) {
      case "head":
        return this.#readHead();
      case "sized":
        return this.#readBody("head");
      case "chunk-head":
        return this.#readChunkHead();
      case "chunk":
        return this.#readBody("chunk-end");
      case "chunk-end":
        return this.#readLine() !== undefined && this.#expect("chunk-head");
      case "trailer": {
        const line = this.#readLine();
        if (line === "") {
          this.#finish();
        }
        return line !== undefined;
      }
    }
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf("\r\n\r\n");
    if (end === -1) {
      return false;
    }
    const head = this.#rest.toString("latin1", 0, end + 2).toLowerCase();
    this.#rest = this.#rest.subarray(end + 4);
    this.#failure = head.startsWith("http/1.1 200 ") ? undefined : head;
    const length = /\r\ncontent-length: *(\d+)\r\n/.exec(head)?.[1];
    if (length === undefined) {
      return this.#expect("chunk-head");
    }
    this.#remaining = Number(length);
    if (this.#remaining > 0) {
      return this.#expect("sized");
    }
    this.#finish();
    return true;
  }

  #readChunkHead(): boolean {
    const line = this.#readLine();
    if (line === undefined) {
      return false;
    }
    this.#remaining = Number.parseInt(line, 16);
    return this.#expect(this.#remaining === 0 ? "trailer" : "chunk");
  }

  #readBody(next: "head" | "chunk-end"): boolean {
    const body = this.#rest.subarray(0, this.#remaining);
    if (body.length === 0) {
      return false;
    }
    this.#rest = this.#rest.subarray(body.length);
    this.#remaining -= body.length;
    if (this.#failure === undefined) {
      this.#pending?.onBody(body);
    } else {
      this.#failure += body.toString("latin1");
    }
    if (this.#remaining > 0) {
      return true;
    }
    if (next === "head") {
      this.#finish();
      return true;
    }
    return this.#expect(next);
  }

  #readLine(): string | undefined {
    const end = this.#rest.indexOf("\r\n");
    if (end === -1) {
      return undefined;
    }
    const line = this.#rest.toString("latin1", 0, end);
    this.#rest = this.#rest.subarray(end + 2);
    return line;
  }

  #expect(next: Expecting): true {
    this.#expecting = next;
    return true;
  }

  #finish(): void {
    this.#expecting = "head";
    const pending = this.#pending;
    this.#pending = undefined;
    if (this.#failure === undefined) {
      pending?.resolve();
    } else {
      pending?.reject(new Error(`not answered with 200: ${this.#failure}`));
    }
  }

  #fail(error: Error): void {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.reject(error);
  }
}
