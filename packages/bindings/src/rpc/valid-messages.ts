import { bodyTooLarge, readAtMost } from "@a2a-connect/core/internal";
import { type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Compression, encodeEnvelope } from "@connectrpc/connect/protocol";
import {
  contentTypeUnaryRegExp,
  headerStreamEncoding,
  headerUnaryContentLength,
  headerUnaryEncoding,
} from "@connectrpc/connect/protocol-connect";
import { headerEncoding } from "@connectrpc/connect/protocol-grpc";
import { malformedRequest } from "../body.ts";
import type { HttpBody, HttpRequest } from "../http.ts";
import { checkFlags } from "./envelope.ts";
import { announcedBytes, prefixBytes, splitEnvelopes } from "./split-envelopes.ts";

/** What the messages of a method may be. */
export interface MessageRules {
  readonly desc: DescMessage;
  /** The most bytes of a message, compressed and decompressed. */
  readonly maxBytes: number;
  readonly compressions: readonly Compression[];
}

/**
 * A request for one of Connect's handlers, with each of its messages whole in one chunk, decompressed, and of the method's type.
 * Connect takes time that grows with the square of a message's chunks, and calls what it cannot decompress or parse a fault of the server.
 */
export function withValidMessages<Request extends Pick<HttpRequest, "header" | "body">>(
  request: Request,
  rules: MessageRules,
): Request {
  const type = request.header.get("content-type") ?? "";
  if (!contentTypeUnaryRegExp.test(type)) {
    const name = type.toLowerCase().startsWith("application/grpc") ? headerEncoding : headerStreamEncoding;
    const reader = new MessageReader(rules, type, request.header.get(name));
    return { ...request, body: reader.enveloped(request.body) };
  }
  const reader = new MessageReader(rules, type, request.header.get(headerUnaryEncoding));
  const header = new Headers(request.header);
  header.delete(headerUnaryContentLength);
  if (reader.decompresses) header.delete(headerUnaryEncoding); // Connect refuses others by it
  return { ...request, header, body: reader.single(request.body) };
}

class MessageReader {
  readonly #rules: MessageRules;
  readonly #isJson: boolean;
  readonly #compression: Compression | undefined;

  constructor(rules: MessageRules, type: string, coding: string | null) {
    this.#rules = rules;
    this.#isJson = /[/+]json\b/i.test(type);
    this.#compression = rules.compressions.find(({ name }) => name === coding);
  }

  get decompresses(): boolean {
    return this.#compression !== undefined;
  }

  async *single(body: HttpBody): AsyncGenerator<Uint8Array, void> {
    const { maxBytes } = this.#rules;
    const bytes = await readAtMost(body, maxBytes);
    if (bytes === undefined) {
      throw bodyTooLarge(maxBytes);
    }
    yield this.#checked(this.#compression === undefined ? bytes : await this.#decompress(bytes));
  }

  /** Connect skips envelopes with the flag for the end of a response, of which one packet may have thousands. */
  async *enveloped(body: HttpBody): AsyncGenerator<Uint8Array, void> {
    for await (const envelope of splitEnvelopes(body, this.#rules.maxBytes)) {
      const flags = checkFlags(envelope);
      const message = envelope.subarray(prefixBytes);
      if (envelope.length < prefixBytes || announcedBytes(envelope) !== message.length) {
        yield envelope; // Connect says what is wrong with its length
      } else if (flags === 0) {
        this.#checked(message);
        yield envelope;
      } else {
        yield encodeEnvelope(0, this.#checked(await this.#decompress(message)));
      }
    }
  }

  async #decompress(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#compression === undefined) {
      throw malformedRequest("is compressed, but its header does not say how");
    }
    try {
      return await this.#compression.decompress(bytes, this.#rules.maxBytes);
    } catch (thrown) {
      if (thrown instanceof ConnectError && thrown.code === Code.ResourceExhausted) {
        throw thrown;
      }
      throw malformedRequest(`is not valid ${this.#compression.name}`);
    }
  }

  /** Connect itself says what is wrong with JSON. @returns the same bytes */
  #checked<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
    if (this.#isJson) return bytes;
    try {
      fromBinary(this.#rules.desc, bytes, messageOptions);
    } catch {
      throw malformedRequest(`is not a valid ${this.#rules.desc.name} in protobuf encoding`);
    }
    return bytes;
  }
}

/** How messages are read: 32,000 unknown fields in one would take 80 times its bytes. */
export const messageOptions = { readUnknownFields: false } as const;
