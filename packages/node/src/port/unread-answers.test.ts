import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { expect, it } from "vitest";
import { listen } from "./listen.ts";

/** Counts as many bytes as the path says, and holds 800,000 of them until they are read. */
async function listenTo(read: Promise<void>, maxUnreadBytes: number) {
  const listener = await listen(
    async (call) => {
      const { pathname } = new URL(call.url);
      try {
        call.countUnread?.(Number(pathname.slice(1)));
      } catch {
        return { status: 429 };
      }
      if (pathname === "/800000") await read;
      return { status: 200 };
    },
    { maxUnreadBytes, trustedProxies: ["127.0.0.3"] },
  );
  /** @param told where the proxy says that the call comes from */
  const statusOf = async (
    bytes: number,
    localAddress = "127.0.0.1",
    told?: string,
  ): Promise<number | undefined> => {
    const headers = told === undefined ? {} : { "x-forwarded-for": told };
    const { port } = listener;
    const call = request({ host: "127.0.0.1", port, path: `/${bytes}`, localAddress, headers }).end();
    const [response] = (await once(call, "response")) as [IncomingMessage]; // what http emits
    response.resume();
    return response.statusCode;
  };
  return { statusOf, [Symbol.asyncDispose]: () => listener.close() };
}

it("answers that one address does not read leave an eighth of their memory to others", async () => {
  const { promise: read, resolve: readAll } = Promise.withResolvers<void>();
  await using port = await listenTo(read, 1_000_000);
  const first = port.statusOf(800_000);
  await expect.poll(() => port.statusOf(100_000)).toBe(429);
  expect(await port.statusOf(100_000, "127.0.0.2")).toBe(200);
  readAll();
  expect(await first).toBe(200);
  expect(await port.statusOf(100_000)).toBe(200);
});

it("answers that one caller behind a trusted proxy does not read leave an eighth of their memory to others", async () => {
  const { promise: read, resolve: readAll } = Promise.withResolvers<void>();
  await using port = await listenTo(read, 1_000_000);
  const proxy = "127.0.0.3";
  const first = port.statusOf(800_000, proxy, "203.0.113.1");
  await expect.poll(() => port.statusOf(100_000, proxy, "203.0.113.1")).toBe(429);
  expect(await port.statusOf(100_000, proxy, "203.0.113.2")).toBe(200);
  expect(await port.statusOf(100_000, proxy)).toBe(200);
  readAll();
  expect(await first).toBe(200);
});

it("ports of the same limits share the memory of unread answers", async () => {
  const { promise: read, resolve: readAll } = Promise.withResolvers<void>();
  await using first = await listenTo(read, 1_000_000);
  await using second = await listenTo(read, 1_000_000);
  await using other = await listenTo(read, 1_000_001);
  const unread = first.statusOf(800_000);
  await expect.poll(() => second.statusOf(100_000)).toBe(429);
  expect(await other.statusOf(100_000)).toBe(200);
  readAll();
  await unread;
  expect(await second.statusOf(100_000)).toBe(200);
});
