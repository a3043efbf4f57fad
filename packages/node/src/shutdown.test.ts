import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";

const program = `
  const { listen } = await import(${JSON.stringify(import.meta.resolve("./listen.ts"))});
  const { shutdownOnSignal } = await import(${JSON.stringify(import.meta.resolve("./shutdown.ts"))});
  const { promise: opened, resolve: open } = Promise.withResolvers();
  const listener = await listen(async ({ url }) => {
    console.log("request");
    await opened;
    return { status: 200, body: new TextEncoder().encode("finished") };
  });
  const { finished } = shutdownOnSignal({ close(options) { setTimeout(open, 10); return listener.close(options); } });
  console.log(listener.url);
  console.log("closed by " + (await finished));
`;

describe("shutdownOnSignal", () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it(`finishes the request in flight and ends the process with 0 on ${signal}`, async () => {
      const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const exited = once(child, "exit");
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
      const { value: url = "" } = await lines.next();
      const answer = fetch(url).then((response) => response.text());
      expect((await lines.next()).value).toBe("request");
      child.kill(signal);
      expect(await answer).toBe("finished");
      expect((await lines.next()).value).toBe(`closed by ${signal}`);
      expect(await exited).toEqual([0, null]);
    });
  }
});
