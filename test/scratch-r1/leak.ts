import { connectAgent } from "@a2a-connect/node/client";
import { serve } from "@a2a-connect/node";
import { defineAgent, createMemoryTaskStore } from "@a2a-connect/server";
let open = 0;
const agent = defineAgent({
  card: { name: "X", skills: [{ id: "x", name: "X", description: "x", tags: [] }] }, lifecycle: {asks: true},
  async *execute(turn) {
    if (turn.text === "ask") { yield turn.inputRequired("Which?"); return; }
    yield turn.working("1");
    await new Promise((r) => turn.signal.addEventListener("abort", r, { once: true }));
  },
});
const served = await serve(agent, { store: createMemoryTaskStore(), fetch: undefined } as never);
for (const b of ["JSONRPC", "HTTP+JSON", "GRPC", undefined]) {
  for (const mode of ["break", "ask"]) {
  const signals: AbortSignal[] = [];
  await using client = await connectAgent(served.url, { ...(b ? { pinBinding: b } : {}),
    interceptors: [(next) => async (req) => { if (req.stream) signals.push(req.signal); const r = await next(req); 
      if (r.stream) { open++; const m = r.message; return { ...r, message: (async function* () { try { yield* m as never; } finally { open--; } })() } as never; } return r; }] });
  open = 0;
  for (let i = 0; i < 20; i++) {
    for await (const e of client.stream(mode === "ask" ? "ask" : "go")) { if (mode === "break" && e.payload.case === "statusUpdate") break; }
  }
  await new Promise((r) => setTimeout(r, 300));
  const handles = process.getActiveResourcesInfo().filter((x) => x.startsWith("TCP")).length;
  console.log(b ?? client.interface.protocolBinding, mode, "streams still open:", open, "signals aborted", signals.filter((s) => s.aborted).length, "of", signals.length, "tcp handles", handles);
  }
}
await served.close({ graceMs: 0, timeoutMs: 100 });
process.exit(0);
