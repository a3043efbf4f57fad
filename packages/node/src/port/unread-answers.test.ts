import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { expect, it } from "vitest";
import { listen } from "./listen.ts";

it("answers that one address does not read leave an eighth of their memory to others", async () => {
  const { promise: read, resolve: readAll } = Promise.withResolvers<void>();
  await using listener = await listen(
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
    { maxUnreadBytes: 1_000_000 },
  );
  const statusOf = async (bytes: number, localAddress: string): Promise<number | undefined> => {
    const call = request({ host: "127.0.0.1", port: listener.port, path: `/${bytes}`, localAddress }).end();
    const [response] = (await once(call, "response")) as [IncomingMessage]; // what http emits
    response.resume();
    return response.statusCode;
  };
  const first = statusOf(800_000, "127.0.0.1");
  await expect.poll(() => statusOf(100_000, "127.0.0.1")).toBe(429);
  expect(await statusOf(100_000, "127.0.0.2")).toBe(200);
  readAll();
  expect(await first).toBe(200);
  expect(await statusOf(100_000, "127.0.0.1")).toBe(200);
});
