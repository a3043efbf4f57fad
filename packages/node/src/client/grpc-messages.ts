import {
  type CallEnding,
  manyNamesValues,
  maxValuesOf,
  type ReadyMessages,
  responseTooLarge,
} from "@a2a-connect/bindings/client";
import { DecodeError, decodeMessage } from "@a2a-connect/core/internal";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Compression, compressedFlag } from "@connectrpc/connect/protocol";
import { headerGrpcStatus, validateTrailer } from "@connectrpc/connect/protocol-grpc";
import type { GrpcCall, GrpcEnvelope } from "./grpc-call.ts";

/** How the messages of a response are read. */
export interface GrpcReading {
  readonly header: Headers;
  /** The coding of messages that are marked as compressed, by the response's header. */
  readonly compression: Compression | null;
  /** Longest message after decompression. */
  readonly maxBytes: number;
  /** Takes note of what went wrong. @returns the error for it that other wires have, too */
  failed(thrown: unknown): unknown;
  readonly ending: CallEnding;
}

/** The messages of a response. After the last one it rejects with the status in the trailers, unless that is OK. */
export class GrpcMessages<Desc extends DescMessage>
  implements AsyncIterable<MessageShape<Desc>, void>, ReadyMessages<MessageShape<Desc>>
{
  readonly #desc: Desc;
  readonly #call: GrpcCall;
  readonly #reading: GrpcReading;
  #compressed: GrpcEnvelope | undefined;
  #isOver = false;

  constructor(desc: Desc, call: GrpcCall, reading: GrpcReading) {
    this.#desc = desc;
    this.#call = call;
    this.#reading = reading;
  }

  takeReady(): MessageShape<Desc> | undefined {
    if (this.#isOver || this.#compressed !== undefined) {
      return undefined;
    }
    try {
      this.#reading.ending.throwIfOver();
      const envelope = this.#call.takeReady();
      if (envelope !== undefined && (envelope.flags & compressedFlag) !== 0) {
        this.#compressed = envelope;
        return undefined;
      }
      return envelope && this.#decode(envelope.bytes);
    } catch (thrown) {
      throw this.#fail(thrown);
    }
  }

  async next(): Promise<IteratorResult<MessageShape<Desc>, void>> {
    for (;;) {
      const value = this.takeReady();
      if (value !== undefined) {
        return { done: false, value };
      }
      if (this.#isOver) {
        return { done: true, value: undefined };
      }
      try {
        if (this.#compressed !== undefined) {
          return { done: false, value: await this.#decompress(this.#compressed) };
        }
        if (!(await this.#call.more())) {
          this.#finish();
        }
      } catch (thrown) {
        throw this.#fail(thrown);
      }
    }
  }

  /** To stop reading early ends the call. */
  async return(): Promise<IteratorResult<MessageShape<Desc>, void>> {
    if (!this.#isOver) {
      this.#leave();
    }
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #decompress({ bytes }: GrpcEnvelope): Promise<MessageShape<Desc>> {
    const { compression, maxBytes } = this.#reading;
    if (compression === null) {
      throw new ConnectError("the server compressed a message and did not say how", Code.Internal);
    }
    const { buffer, byteOffset, byteLength } = await compression.decompress(bytes, maxBytes);
    this.#compressed = undefined;
    return this.#decode(new Uint8Array(buffer, byteOffset, byteLength)); // no Buffer, for callers
  }

  #decode(bytes: Uint8Array): MessageShape<Desc> {
    const { maxBytes } = this.#reading;
    try {
      return decodeMessage(this.#desc, bytes, { maxValues: maxValuesOf(maxBytes), manyNamesValues });
    } catch (thrown) {
      const isTooMany = thrown instanceof DecodeError && thrown.reason === "too-many-values";
      throw isTooMany ? responseTooLarge(maxBytes) : thrown;
    }
  }

  #finish(): void {
    const { header, ending } = this.#reading;
    if (!header.has(headerGrpcStatus)) {
      validateTrailer(this.#call.trailer, header);
    }
    this.#isOver = true;
    ending[Symbol.dispose]();
  }

  #fail(thrown: unknown): ConnectError {
    const { ending, failed } = this.#reading;
    const error = ending.errorFor(failed(thrown));
    this.#leave();
    return error;
  }

  #leave(): void {
    this.#isOver = true;
    this.#call.cancel();
    this.#reading.ending[Symbol.dispose]();
  }
}
