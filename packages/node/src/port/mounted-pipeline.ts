import type { Socket } from "node:net";
import type { CallerConnection } from "./callers/callers.ts";
import { cutWhenForgotten } from "./forgotten-connection.ts";
import { Pipeline, type PipelineReader } from "./pipeline.ts";

/** Those of all mounts: what one connection brings may be for several. */
const pipelines = new WeakMap<Socket, Pipeline>();

/**
 * The pipeline of a connection that another server has, and reads. Node itself stops reading it only when many bytes of answers wait,
 * and of requests that wait for their turn there is no answer yet.
 */
export function mountedPipeline(socket: Socket, connection: CallerConnection): Pipeline {
  let pipeline = pipelines.get(socket);
  if (pipeline === undefined) {
    pipeline = new Pipeline(socket, new Brake(socket), connection);
    pipelines.set(socket, pipeline);
  }
  return pipeline;
}

/** Keeps Node from reading a connection. What it has read, up to 64 KiB, becomes requests all the same. */
class Brake implements PipelineReader {
  /** It is the other server that refuses late requests. */
  readonly readForMs: number = Number.POSITIVE_INFINITY;
  readonly #socket: Socket;
  #isHeld = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    cutWhenForgotten(socket, () => this.#isHeld);
    // Node reads on when the body of a request was read, or an answer was written.
    socket.on("resume", () => {
      if (this.#isHeld) socket.pause();
    });
  }

  hold(): void {
    this.#isHeld = true;
    this.#socket.pause();
  }

  release(): void {
    this.#isHeld = false;
    this.#socket.resume();
  }

  /** Does nothing: what is broken, and tunnels, are the other server's. */
  discard(): void {}

  /** The same. */
  throwAway(): void {}
}
