import { setImmediate as nextTurn } from "node:timers/promises";
import { createJsonRpcHandler } from "@a2a-connect/bindings/server";
import { A2AService } from "@a2a-connect/proto";
import { createServiceImplSpec } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { createGate } from "../../test-support/handlers.ts";
import { callHttp2, openHttp2 } from "../../test-support/http2-call.ts";
import { listen } from "./listen.ts";

const waiting = 300;

it.each(["answers", "errors"])(
  "makes few %s in a turn when many calls waited for one event",
  async (kind) => {
    const gate = createGate();
    let begun = 0;
    let answered = 0;
    const spec = createServiceImplSpec<typeof A2AService>(A2AService, {
      async getTask({ id }) {
        begun += 1;
        await gate.opened;
        if (kind === "errors") throw new Error("lost");
        return { id };
      },
    });
    const jsonRpc = createJsonRpcHandler(spec);
    await using listener = await listen(async (request) => {
      const response = await jsonRpc(request);
      answered += 1;
      return response;
    });
    using session = openHttp2(listener.url);
    const body = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}');
    const head = { ":path": "/rpc", ":method": "POST", "content-type": "application/json" };
    const calls = Array.from({ length: waiting }, () => callHttp2(session, head, body));
    while (begun < waiting) await nextTurn();
    gate.open();
    let most = 0;
    for (let before = 0; answered < waiting; before = answered) {
      await nextTurn();
      most = Math.max(most, answered - before);
    }
    expect(most).toBeLessThanOrEqual(64);
    expect(new Set((await Promise.all(calls)).map(({ headers }) => headers[":status"]))).toEqual(
      new Set([200]),
    );
  },
);
