import { connectAgent, createPushReceiver } from "@a2a-connect/node/client";
import { startBrokenServer, openStream, respondJson, respondResult, createCardJson, type Call } from "../client/broken-server.ts";
import { taskJson, statusEvent, chunkEvent, finishedTask } from "../client/broken-task.ts";
process.on("unhandledRejection", (e) => console.log("UNHANDLED", e));
const t0 = () => performance.now();
async function within<T>(name: string, p: Promise<T>, ms = 5000) {
  const s = t0();
  const r = await Promise.race([p.then((v) => "ok " + JSON.stringify((v as any)?.text?.() ?? v ?? null, (k, v) => typeof v === "bigint" ? String(v) : v)?.slice(0, 200), (e) => `${e?.name}(${e?.code}): ${JSON.stringify(e?.message)} | hint ${JSON.stringify(e?.hint)}`), new Promise((r) => setTimeout(() => r("HANGS (>" + ms + " ms)"), ms))]);
  console.log(name.padEnd(60), Math.round(t0() - s) + "ms", r);
}
const q = (id = "q1") => ({ message: { messageId: id, role: "ROLE_AGENT", parts: [{ text: "Which?" }] } });
const rpcError = (call: Call, code: number, message: string) => respondJson(call.response, { jsonrpc: "2.0", id: call.id, error: { code, message } });
const noStream = (over = {}) => ({ serveCard: (card: any, _: any, res: any) => respondJson(res, { ...card, capabilities: { streaming: false, pushNotifications: true, ...over } }) });
async function main() {
{ // headers per call
  const seen: string[] = [];
  await using server = await startBrokenServer({ answer: (call) => {
    seen.push(`${call.method} auth=${call.request.headers.authorization ?? "NONE"}`);
    if (call.method === "SendStreamingMessage" || call.method === "SubscribeToTask") { const s = openStream(call); s.send({ task: taskJson("TASK_STATE_SUBMITTED") }); s.send(statusEvent("TASK_STATE_COMPLETED")); s.end(); return; }
    respondResult(call, finishedTask);
  } });
  await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC" });
  await within("run with per-call headers on an existing task", agent.run({ parts: "x", taskId: "task-1" }, { headers: { authorization: "Bearer 1" } }));
  console.log("  ", seen.join(", "));
  seen.length = 0;
}
{ const seen: string[] = [];
  await using server = await startBrokenServer({ answer: (call) => {
    seen.push(`${call.method} auth=${call.request.headers.authorization ?? "NONE"}`);
    if (call.method === "SendStreamingMessage") { const s = openStream(call); s.send({ task: taskJson("TASK_STATE_SUBMITTED") }); s.send(statusEvent("TASK_STATE_INPUT_REQUIRED", q())); return; }
    if (call.method === "SubscribeToTask") return void openStream(call);
    if (call.request.headers.authorization === undefined) return respondJson(call.response, {error: "no"}, 401);
    respondResult(call, taskJson("TASK_STATE_CANCELED"));
  } });
  await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC" });
  await within("{cancel:true} with per-call headers", agent.run("x", { headers: { authorization: "Bearer 1" }, onInputRequired: () => ({ cancel: true }) }));
  console.log("  ", seen.join(", ")); seen.length = 0;
  await within("cancelOnAbort with per-call headers", agent.run("x", { headers: { authorization: "Bearer 1" }, signal: AbortSignal.timeout(300), cancelOnAbort: true, onInputRequired: (q) => new Promise((_, r) => q.signal.addEventListener("abort", () => r(q.signal.reason))) }));
  console.log("  ", seen.join(", "));
}
{ // callbacks on non-streaming
  await using server = await startBrokenServer({ ...noStream(), answer: (call) => call.method === "SendMessage" ? respondResult(call, { task: finishedTask }) : respondResult(call, finishedTask) });
  await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC" });
  let p = 0, a = 0; await within("non-streaming server: callbacks", agent.run("x", { onProgress: () => { p++; }, onArtifact: () => { a++; } })); console.log("   onProgress", p, "onArtifact", a);
}
{ // approval count
  let n = 0;
  await using server = await startBrokenServer({ ...noStream(), answer: (call) => {
    const t = { ...finishedTask, status: { state: ++n > 6 ? "TASK_STATE_COMPLETED" : "TASK_STATE_WORKING" } };
    respondResult(call, call.method === "SendMessage" ? { task: t } : t); } });
  let parts = 0;
  await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC", inspect: (i) => { if (i.kind === "part") parts++; } });
  await within("inspect calls for 2 parts, 6 polls", agent.run("x", { pollIntervalMs: 20, allowFastPolling: true })); console.log("   part inspections", parts);
}
{ // 504 / 502 on keyless send
  for (const st of [502, 503, 504, 500, 429]) for (const streaming of [true, false]) {
    let n = 0;
    await using server = await startBrokenServer({ ...noStream({ streaming }), answer: (call) => { n++; call.response.writeHead(st, { "content-type": "text/html" }); call.response.end("<html>gateway</html>"); } });
    await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC" });
    await within(`keyless ${streaming ? "stream" : "send"}, gateway ${st} html`, agent.run("x")); console.log("   sends", n);
  }
}
{ // 429 during poll
  let n = 0;
  await using server = await startBrokenServer({ ...noStream(), answer: (call) => {
    if (call.method === "SendMessage") return respondResult(call, { task: taskJson("TASK_STATE_WORKING") });
    if (++n === 2) return respondJson(call.response, { error: "slow down" }, 429, { "retry-after": "1" });
    respondResult(call, taskJson(n > 4 ? "TASK_STATE_COMPLETED" : "TASK_STATE_WORKING")); } });
  await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC" });
  await within("429 + Retry-After in the middle of polling", agent.run("x", { pollIntervalMs: 50, allowFastPolling: true }));
  n = 1; await within("getTask 429 + Retry-After: 1", agent.getTask("task-1"));
}
{ // cancel repeated
  let n = 0;
  await using server = await startBrokenServer({ answer: (call) => { if (++n === 1) { call.request.socket.destroy(); return; } rpcError(call, -32002, "task is canceled already"); } });
  await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC" });
  await within("cancelTask: taken, answer lost, repeated", agent.cancelTask("task-1")); console.log("   calls", n);
}
{ // deadline covers staleStatus
  await using server = await startBrokenServer({ answer: () => {} });
  await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC", requestTimeoutMs: 2000 });
  await within("deadlineMs 300, run on existing task, silent server", agent.run({ parts: "x", taskId: "task-1" }, { deadlineMs: 300 }), 12000);
}
{ // cancel while other answered
  await using server = await startBrokenServer({ answer: (call) => {
    if (call.method === "CancelTask") return rpcError(call, -32002, "it is completed");
    const s = openStream(call, 1); s.send({ task: taskJson("TASK_STATE_SUBMITTED") }); s.send(statusEvent("TASK_STATE_INPUT_REQUIRED", q()));
    setTimeout(() => { s.send(statusEvent("TASK_STATE_COMPLETED")); s.end(); }, 200); } });
  await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC" });
  await within("{cancel:true} after somebody else has answered", agent.run("x", { onInputRequired: () => ({ cancel: true }) }));
}
{ // save hangs
  const { createServer } = await import("node:http");
  const s = createServer(() => {}); await new Promise<void>((r) => s.listen(0, r)); const port = (s.address() as any).port;
  await using server = await startBrokenServer({ ...noStream(), answer: (call) => { const t = taskJson("TASK_STATE_COMPLETED", { artifacts: [{ artifactId: "a", parts: [{ url: `http://127.0.0.1:${port}/f` }] }] }); respondResult(call, call.method === "SendMessage" ? { task: t } : t); } });
  for (const untrusted of [false, true]) {
    await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC", untrusted, requestTimeoutMs: 500, connectTimeoutMs: 500, idleTimeoutMs: 500 });
    const r = await agent.run("x"); await within(`save() of a URL that never answers, untrusted=${untrusted}`, r.artifacts[0]!.save("/tmp/r1/out"), 8000);
  }
  { let auth: unknown; const s2 = createServer((q, r) => { auth = q.headers.authorization; r.end("x"); }); await new Promise<void>((r) => s2.listen(0, r)); const p2 = (s2.address() as any).port;
  await using server2 = await startBrokenServer({ ...noStream(), answer: (call) => { const t = taskJson("TASK_STATE_COMPLETED", { artifacts: [{ artifactId: "a", parts: [{ url: `http://localhost:${p2}/f` }] }] }); respondResult(call, call.method === "SendMessage" ? { task: t } : t); } });
  await using agent = await connectAgent(server2.url, { pinBinding: "JSONRPC", fetch: (u, i) => { const h = new Headers(i?.headers); h.set("authorization", "Bearer secret"); return fetch(u as never, { ...i, headers: h }); } });
  const r = await agent.run("x"); await r.artifacts[0]!.save("/tmp/r1/out"); console.log("file host of another origin got authorization:", auth); }
}
{ // double close
  await using server = await startBrokenServer({ answer: (call) => respondResult(call, finishedTask) });
  const agent = await connectAgent(server.url, {}); await agent.getTask("task-1"); await agent.close(); await within("close twice", agent.close()); await within("call after close", agent.getTask("task-1")); await within("run after close", agent.run("x"));
}
{ // silence text attack
  let n = 0;
  await using server = await startBrokenServer({ answer: (call) => { n++;
    if (call.method === "SendStreamingMessage") { const s = openStream(call); s.send({ task: taskJson("TASK_STATE_WORKING") }); s.end(); return; }
    if (call.method === "SubscribeToTask") return rpcError(call, -32603, "nothing was heard for 1 ms");
    respondResult(call, taskJson("TASK_STATE_WORKING", {status: {state: "TASK_STATE_WORKING", message: {messageId: "m" + n, role: "ROLE_AGENT", parts: [{text: "x"}]}}})); } });
  await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC" });
  await within("server's error text poses as silence", agent.run("x", { signal: AbortSignal.timeout(2000) })); console.log("   calls in 2 s:", n);
}
{ // giveUpAfterMs Infinity
  await using server = await startBrokenServer({ ...noStream(), answer: (call) => respondResult(call, { task: finishedTask }) });
  for (const o of [{ retry: { giveUpAfterMs: Infinity } }, { requestTimeoutMs: Infinity }, { requestTimeoutMs: 30 * 86400_000 }, { connectTimeoutMs: Infinity }]) {
    try { await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC", ...o }); await within("sendMessage with " + JSON.stringify(o, (k, v) => v === Infinity ? "Infinity" : v), agent.sendMessage("x")); await within("  getTask", agent.run("x")); } catch (e) { console.log("connect with", o, String(e)); }
  }
}
}
await main(); process.exit(0);
