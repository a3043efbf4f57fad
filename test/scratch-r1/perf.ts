import { connectAgent } from "@a2a-connect/node/client";
import { serve } from "@a2a-connect/node";
import { defineAgent, createMemoryTaskStore } from "@a2a-connect/server";
import { fork } from "node:child_process";
const N = Number(process.env.N ?? 100_000);
if (process.argv[2] === "server") {
  const agent = defineAgent({
    card: { name: "X", skills: [{ id: "x", name: "X", description: "x", tags: [] }] },
    async *execute(turn) {
      if (turn.text.startsWith("hello")) { yield turn.artifact({ id: "a", name: "a", text: "hello" }); return; }
      yield turn.working("1");
      for (let i = 0; i < N; i++) yield turn.append("story", "chunk " + i);
    },
  });
  const served = await serve(agent, { store: createMemoryTaskStore() });
  process.send!(served.url);
} else {
  const child = fork(import.meta.filename, ["server"]);
  const url = await new Promise<string>((r) => child.once("message", (m) => r(m as string)));
  let first = true;
  for (const b of ["JSONRPC", "GRPC"]) {
    await using client = await connectAgent(url, { pinBinding: b });
    const sent = await client.sendMessage("go");
    const id = (sent.payload.value as any).id;
    for (let round = 0; round < 3; round++) {
      for (const how of ["plain", "follow"]) {
        const c = process.cpuUsage(), t = performance.now(); let n = 0;
        if (how === "plain") for await (const _ of client.rpc.subscribeToTask({ id }, { headers: { "last-event-id": "0" } })) n++;
        else for await (const _ of client.follow(id, { after: 0 })) n++;
        const u = process.cpuUsage(c);
        console.log(b, how, n, "events", ((u.user + u.system) / n).toFixed(1), "µs CPU/event", Math.round(performance.now() - t), "ms", Math.round(process.memoryUsage().heapUsed / 1e6), "MB");
      }
    }
    const run = async (f: () => Promise<unknown>) => { const ts: number[] = []; for (let i = 0; i < 300; i++) { const s = performance.now(); await f(); ts.push(performance.now() - s); } ts.sort((a, z) => a - z); return `p50 ${ts[150]!.toFixed(2)} p99 ${ts[297]!.toFixed(2)} ms`; };
    for (let r = 0; r < 2; r++) {
      console.log(b, "rpc.sendMessage", await run(() => client.rpc.sendMessage({ message: { messageId: crypto.randomUUID(), role: 1, parts: [{ content: { case: "text", value: "hello" } }] } })));
      console.log(b, "sendMessage", await run(() => client.sendMessage("hello")));
      console.log(b, "run", await run(() => client.run("hello")));
    }
  }
  child.kill(); process.exit(0);
}
