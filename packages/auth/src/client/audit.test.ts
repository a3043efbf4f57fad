import { A2AService } from "@a2a-connect/proto";
import { Code, createClient, createRouterTransport } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { auditCalls } from "./audit.ts";

for (const [when, fail] of [
  [
    "at once",
    (): never => {
      throw new Error("the disk is full");
    },
  ],
  ["later", () => Promise.reject(new Error("the disk is full"))],
] as const) {
  it(`a line that cannot be written (${when}) costs no call, and not the process when its caller leaves`, async () => {
    const transport = createRouterTransport(
      ({ service }) =>
        service(A2AService, {
          getTask: ({ id }) => ({ id }),
          async *subscribeToTask({ id }, { signal }) {
            yield { payload: { case: "task", value: { id } } };
            await new Promise((resolve) => signal.addEventListener("abort", resolve));
          },
        }),
      { transport: { interceptors: [auditCalls(fail)] } },
    );
    const client = createClient(A2AService, transport);
    expect((await client.getTask({ id: "1" })).id).toBe("1");
    const left = new AbortController();
    const events = client.subscribeToTask({ id: "1" }, { signal: left.signal })[Symbol.asyncIterator]();
    await events.next();
    left.abort();
    await expect(events.next()).rejects.toMatchObject({ code: Code.Canceled });
  });
}
