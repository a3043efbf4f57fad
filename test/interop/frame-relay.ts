import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** What has passed in one direction. */
export interface Passed {
  readonly bytes: number;
  /** PING frames that ask for an answer. */
  readonly pings: number;
  /** PING frames that answer one. */
  readonly pongs: number;
}

/** A TCP relay in front of an HTTP/2 server, which reads the headers of the frames that pass. */
export interface FrameRelay {
  /** `host:port` to dial in place of the server's. */
  readonly authority: string;
  readonly toServer: Passed;
  readonly toClient: Passed;
  /** Resolves once so many PINGs of the client have been answered. */
  ponged(count: number): Promise<void>;
  close(): void;
}

/** Relays connections to `authority`, which speaks cleartext HTTP/2. */
export async function startFrameRelay(authority: string): Promise<FrameRelay> {
  const { hostname, port } = new URL(`http://${authority}`);
  const toServer = { bytes: 0, pings: 0, pongs: 0 };
  const toClient = { bytes: 0, pings: 0, pongs: 0 };
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const sockets = new Set<Socket>();

  const relay = createServer((downstream) => {
    const upstream = connect(Number(port), hostname);
    pass(downstream, upstream, toServer, prefaceBytes);
    pass(upstream, downstream, toClient, 0);
  });

  function pass(
    from: Socket,
    to: Socket,
    tally: { bytes: number; pings: number; pongs: number },
    skip: number,
  ) {
    const read = createFrameReader(skip, (type, flags) => {
      if (type === pingFrame && (flags & ackFlag) === 0) tally.pings += 1;
      if (type === pingFrame && (flags & ackFlag) !== 0) tally.pongs += 1;
      for (const { count, resolve } of waiting) if (toClient.pongs >= count) resolve();
    });
    sockets.add(from);
    from.setNoDelay(true);
    from.on("data", (chunk: Buffer) => {
      tally.bytes += chunk.length;
      read(chunk);
      if (!to.write(chunk)) {
        from.pause();
        to.once("drain", () => from.resume());
      }
    });
    from.on("close", () => to.destroy());
    from.on("error", () => to.destroy());
  }

  relay.listen(0, "localhost");
  await once(relay, "listening");
  const address = relay.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
  return {
    authority: `localhost:${address.port}`,
    toServer,
    toClient,
    ponged(count) {
      if (toClient.pongs >= count) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ count, resolve });
      return promise;
    },
    close() {
      relay.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** What a client sends before its first frame (RFC 9113 §3.4). */
const prefaceBytes = 24;
const headerBytes = 9;
const pingFrame = 6;
const ackFlag = 1;

/** Calls `onFrame` for the header of each frame in a stream of chunks, after `skip` bytes of something else. */
function createFrameReader(skip: number, onFrame: (type: number, flags: number) => void) {
  let left = skip; // of what is not a header
  let header = Buffer.alloc(0);
  return (chunk: Buffer): void => {
    for (let rest = chunk; rest.length > 0; ) {
      const jumped = Math.min(left, rest.length);
      left -= jumped;
      rest = rest.subarray(jumped);
      const wanted = headerBytes - header.length;
      header = Buffer.concat([header, rest.subarray(0, wanted)]);
      rest = rest.subarray(wanted);
      if (header.length === headerBytes) {
        left = header.readUIntBE(0, 3);
        onFrame(header.readUInt8(3), header.readUInt8(4));
        header = Buffer.alloc(0);
      }
    }
  };
}
