import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { protocolVersion } from "../load/http1-request.ts";
import type { Target } from "../servers/control.ts";
import type { Attack, AttackGroup } from "./attack.ts";
import { exchange } from "./http.ts";

const tasks = 60;
const messageBytes = 10 * 2 ** 20;
const unreadLists = 8;
const readers = 200;
const openBodies = 200;
const bodyBytes = 15 * 2 ** 20;
/** How long callers stay that neither read nor end. */
const stayMs = 3_000;

/** Answers that are large: lists of 60 tasks with messages of 10 MiB. */
export const largeAnswers: AttackGroup = {
  wire: "HTTP+JSON",
  shared: true,
  attacks: [
    list("list of 60 tasks of 10 MiB", ""),
    list("the same, pageSize=100", "?pageSize=100"),
    list("the same, historyLength=0", "?historyLength=0"),
    {
      name: `the same, ${unreadLists} callers that do not read`,
      expected: undefined,
      prepare: () => leaveUnread,
    },
    {
      name: `one of these tasks, ${readers} callers at once`,
      expected: undefined,
      prepare: () => readTogether,
    },
  ],
  async fill(target) {
    const text = "x".repeat(messageBytes);
    for (let count = 0; count < tasks; count++) {
      const parts = [{ text: "task x" }, { data: text }];
      const message = { messageId: `large-${count}`, role: "ROLE_USER", parts };
      const body = Buffer.from(JSON.stringify({ message }));
      await exchange(target.httpPort, `${target.httpJsonPath}/message:send`, body);
    }
  },
};

/** Requests that are begun and not ended, all on one connection, which then goes away. */
export const unfinishedBodies: AttackGroup = {
  wire: "gRPC",
  shared: true,
  attacks: [
    {
      name: `${openBodies} bodies of 15 MiB, not ended`,
      expected: undefined,
      prepare() {
        const body = Buffer.alloc(bodyBytes, 0x20);
        return (target) => leaveUnfinished(target, body);
      },
    },
  ],
};

function list(name: string, query: string): Attack {
  return {
    name,
    expected: "taken",
    prepare: () => async (target) => {
      const { status } = await exchange(target.httpPort, `${target.httpJsonPath}/tasks${query}`);
      return status === 200 ? "taken" : "refused";
    },
  };
}

async function leaveUnread(target: Target): Promise<undefined> {
  const head = `GET ${target.httpJsonPath}/tasks HTTP/1.1\r\nhost: localhost\r\na2a-version: ${protocolVersion}\r\n\r\n`;
  const sockets = Array.from({ length: unreadLists }, () => connect(target.httpPort, "127.0.0.1").pause());
  for (const socket of sockets) {
    socket.on("error", () => {}); // the server may cut it off
    socket.write(head);
  }
  await pause(stayMs);
  for (const socket of sockets) {
    socket.destroy();
  }
}

/** Each on a connection of its own. The server may refuse some, so that its memory suffices. */
async function readTogether(target: Target): Promise<undefined> {
  const page = await exchange(target.httpPort, `${target.httpJsonPath}/tasks?pageSize=1&historyLength=0`);
  const [, id] = /"id":"([^"]+)"/.exec(page.head.toString()) ?? [];
  if (id === undefined) return; // a peer that took none of them
  const path = `${target.httpJsonPath}/tasks/${id}`;
  await Promise.all(Array.from({ length: readers }, () => exchange(target.httpPort, path)));
}

async function leaveUnfinished(target: Target, body: Buffer): Promise<undefined> {
  const session = connectHttp2(`http://127.0.0.1:${target.grpcPort}`);
  session.on("error", () => {}); // the server may end it
  const streams = Array.from({ length: openBodies }, () => {
    const stream = session.request({
      ":method": "POST",
      ":path": "/lf.a2a.v1.A2AService/SendMessage",
      "content-type": "application/grpc",
      te: "trailers",
      "a2a-version": protocolVersion,
    });
    stream.on("error", () => {}).resume(); // refused
    stream.write(body);
    return stream;
  });
  await pause(stayMs);
  session.destroy();
  await Promise.all(streams.map((stream) => stream.closed || once(stream, "close")));
  await pause(1_000); // what the server makes of it
}
