import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect, it } from "vitest";
import { aborted, createGate } from "../../test-support/handlers.ts";
import { openRawConnection } from "../../test-support/raw-connection.ts";
import { listen } from "./listen.ts";

const requests = 1_000;

function pipelined(from: number, to: number): string {
  const one = (at: number): string => `GET /${at} HTTP/1.1\r\nhost: localhost\r\n\r\n`;
  return Array.from({ length: to - from }, (_, at) => one(from + at)).join("");
}

it("a few of the requests that are pipelined are served at a time, and others in between", async () => {
  const gate = createGate();
  let running = 0;
  let most = 0;
  let served = 0;
  await using listener = await listen(async ({ url }) => {
    if (url.endsWith("/other")) return { status: 200, body: `after ${served}` };
    most = Math.max(most, ++running);
    await gate.opened;
    running -= 1;
    served += 1;
    return { status: 200, body: `answer to ${new URL(url).pathname};` };
  });
  using connection = await openRawConnection(listener.port);
  await connection.write(pipelined(0, requests));
  expect(await (await fetch(`${listener.url}/other`)).text()).toBe("after 0");
  gate.open();
  await connection.until("answer to /0;");
  const other = await (await fetch(`${listener.url}/other`)).text();
  expect(Number(other.replace("after ", ""))).toBeLessThan(requests);
  const received = await connection.until(`answer to /${requests - 1};`);
  const answered = [...received.matchAll(/answer to \/(\d+);/g)].map(([, at]) => Number(at));
  expect(answered).toEqual(Array.from({ length: requests }, (_, at) => at));
  expect(most).toBe(8);
});

it("requests that wait behind others are not begun once their caller has gone", async () => {
  const gate = createGate();
  const begun: string[] = [];
  await using listener = await listen(async ({ url, signal }) => {
    begun.push(new URL(url).pathname);
    if (!url.endsWith("/other")) {
      if (begun.length === 8) gate.open();
      await aborted(signal);
    }
    return { status: 200, body: "answer" };
  });
  {
    using connection = await openRawConnection(listener.port);
    await connection.write(pipelined(0, 20));
    await gate.opened;
  }
  expect((await fetch(`${listener.url}/other`)).status).toBe(200);
  expect(begun).toEqual([..."01234567"].map((at) => `/${at}`).concat("/other"));
});

it.each(["", "expect: the unexpected\r\n"])(
  "requests are not read while others of their connection wait, with fields %j",
  async (fields) => {
    const last = createGate();
    const counted = createGate();
    await using listener = await listen(async ({ url }) => {
      if (url.endsWith("/last")) last.open();
      return { status: 200, body: "answer" };
    });
    const arrived = countUnanswered(counted.opened);
    using connection = await openRawConnection(listener.port);
    const packet = `GET / HTTP/1.1\r\nhost: localhost\r\n${fields}\r\n`.repeat(1_000);
    for (let at = 0; at < 40; at += 1) await connection.write(packet);
    await connection.write("GET /last HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await last.opened;
    counted.open();
    expect(await arrived).toBeLessThan(6_000); // a packet has some 64 KiB, or twice as much on loopback
  },
);

it("requests that are sent before earlier ones are answered take places, and their connection is closed when there are none", async () => {
  const gate = createGate();
  await using listener = await listen(
    async ({ url }) => {
      await gate.opened;
      return { status: 200, body: `answer to ${new URL(url).pathname};` };
    },
    { maxStreams: 80 },
  );
  const send = async (count: number) => {
    const connection = await openRawConnection(listener.port);
    await connection.write(pipelined(0, count));
    return connection;
  };
  using first = await send(50); // 70 are 7/8 of 80
  for (let at = 0; at < 3; at += 1) {
    using cut = await send(50);
    expect(await cut.closed()).toBe("");
  }
  using fits = await send(20);
  gate.open();
  await first.until("answer to /49;");
  await fits.until("answer to /19;");
  using next = await send(70); // all places are free again
  await next.until("answer to /69;");
});

/** How many requests have been read at most that were not answered yet, until `end`. */
async function countUnanswered(end: Promise<void>): Promise<number> {
  let unanswered = 0;
  let most = 0;
  const begin = (): void => {
    unanswered += 1;
    most = Math.max(most, unanswered);
  };
  const finish = (): void => {
    unanswered -= 1;
  };
  subscribe("http.server.request.start", begin);
  subscribe("http.server.response.finish", finish);
  await end;
  unsubscribe("http.server.request.start", begin);
  unsubscribe("http.server.response.finish", finish);
  return most;
}
