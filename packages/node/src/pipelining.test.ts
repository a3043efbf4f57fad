import { expect, it } from "vitest";
import { aborted, createGate } from "../test-support/handlers.ts";
import { openRawConnection } from "../test-support/raw-connection.ts";
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
