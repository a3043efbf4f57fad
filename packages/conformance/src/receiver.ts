import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** A request as it came from the socket. */
export interface RawRequest {
  /** 1 for the first connection, 2 for the second, … */
  readonly connection: number;
  readonly path: string;
  /** Request line and header, without the empty line. */
  readonly head: string;
  readonly body: Buffer;
  /** The value of `x-a2a-event-id`. */
  readonly eventId: number;
}

/** What is done with a request that has arrived whole. */
export type Reply = (socket: Socket) => void;

/** A webhook that looks at bytes. */
export interface Receiver extends AsyncDisposable {
  /** Base URL, without a trailing slash; every path below it is a webhook. */
  readonly url: string;
  readonly requests: readonly RawRequest[];
  /** The replies to the next requests, in order; all others get `accept`. */
  replyNext(...replies: readonly Reply[]): void;
  /** Resolves when the requests so far are as `wanted`. */
  until(wanted: (requests: readonly RawRequest[]) => boolean): Promise<void>;
}

/** Takes the notification, and keeps the connection open. */
export const accept: Reply = (socket) => socket.write("HTTP/1.1 204 No Content\r\n\r\n");

/** Answers with that status and nothing else. */
export function answer(status: number, header = ""): Reply {
  return (socket) => socket.write(`HTTP/1.1 ${status} Whatever\r\n${header}Content-Length: 0\r\n\r\n`);
}

/** Never answers. */
export const hang: Reply = () => {};

/** Cuts the connection before it has answered anything. */
export const cut: Reply = (socket) => socket.destroy();

/** Says 200 and announces a body, of which only the beginning comes before the connection is cut. */
export const cutBody: Reply = (socket) =>
  socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegin", () => socket.destroy());

/** Starts a receiver on a free port of this machine. */
export async function startReceiver(): Promise<Receiver> {
  const requests: RawRequest[] = [];
  const replies: Reply[] = [];
  const sockets = new Set<Socket>();
  let looks: (() => void)[] = [];
  let connections = 0;
  const server = createServer((socket) => {
    const connection = ++connections;
    let received = Buffer.alloc(0);
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      for (let request = parse(received); request !== undefined; request = parse(received)) {
        const { length, ...parsed } = request;
        received = received.subarray(length);
        requests.push({ connection, ...parsed });
        (replies.shift() ?? accept)(socket);
        for (const look of looks.splice(0)) look();
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // of a TCP server
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    replyNext: (...next) => void replies.push(...next),
    async until(wanted) {
      while (!wanted(requests)) await new Promise<void>((resolve) => looks.push(resolve));
    },
    async [Symbol.asyncDispose]() {
      looks = [];
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The first whole request in `bytes`, which has to have a Content-Length. */
function parse(bytes: Buffer): (Omit<RawRequest, "connection"> & { readonly length: number }) | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = bytes.subarray(0, end).toString("latin1");
  const length = end + 4 + Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
  if (bytes.length < length) return undefined;
  const eventId = Number(/^x-a2a-event-id: (\d+)$/im.exec(head)?.[1]);
  const path = head.split(" ")[1] ?? "";
  return { length, path, head, body: bytes.subarray(end + 4, length), eventId };
}
