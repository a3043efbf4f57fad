import { connectAgent } from "@a2a-connect/node/client";
import { startBrokenServer, openStream, respondJson, respondResult } from "../client/broken-server.ts";
import { taskJson, statusEvent, chunkEvent, finishedTask } from "../client/broken-task.ts";
process.on("unhandledRejection", (e) => console.log("UNHANDLED", e));
const status = (id = "q1") => ({ message: { messageId: id, role: "ROLE_AGENT", parts: [{ text: "Which?" }] } });
const t0 = () => performance.now();
async function within<T>(name: string, p: Promise<T>, ms = 5000) {
  const s = t0();
  const r = await Promise.race([p.then((v) => "ok " + JSON.stringify((v as any)?.text?.() ?? null), (e) => `${e?.name}(${e?.code}): ${JSON.stringify(e?.message)} | hint ${JSON.stringify(e?.hint)}`), new Promise((r) => setTimeout(() => r("HANGS (>" + ms + " ms)"), ms))]);
  console.log(name.padEnd(60), Math.round(t0() - s) + "ms", r);
}
const asking = (call: any) => {
  const s = openStream(call, call.method === "SendStreamingMessage" ? 1 : 2);
  s.send({ task: taskJson("TASK_STATE_SUBMITTED") }); if (call.method === "SendStreamingMessage") s.send(statusEvent("TASK_STATE_INPUT_REQUIRED", status()));
};
const never = new Promise<never>(() => {});
{
  await using server = await startBrokenServer({ answer: asking });
  await using agent = await connectAgent(server.url, {});
  await within("deadlineMs 500 while resolver never answers", agent.run("x", { deadlineMs: 500, onInputRequired: () => never }));
  await within("signal aborted while resolver never answers", agent.run("x", { signal: AbortSignal.timeout(500), onInputRequired: () => never }));
  await within("deadlineMs 500 while onProgress never returns", agent.run("x", { deadlineMs: 500, onProgress: () => never }));
  await within("deadlineMs 500 while onTask never returns", agent.run("x", { deadlineMs: 500, onTask: () => never }));
  await within("signal aborted while onTask never returns", agent.run("x", { signal: AbortSignal.timeout(500), onTask: () => never }));
  await within("close() while resolver never answers", (setTimeout(() => void agent.close(), 300), agent.run("x", { onInputRequired: () => never })));
}
{
  await using server = await startBrokenServer({ answer: asking });
  await using agent = await connectAgent(server.url, {});
  await within("onTask throws", agent.run("x", { onTask: () => { throw new Error("boom"); } }));
  await within("onProgress throws", agent.run("x", { onProgress: () => { throw new Error("boom"); } }));
  await within("resolver throws", agent.run("x", { onInputRequired: () => { throw new Error("boom"); } }));
  await within("resolver null", agent.run("x", { onInputRequired: () => null as never }));
  await within("resolver number", agent.run("x", { onInputRequired: () => 42 as never }));
  await within("deadlineMs 30 days", agent.run("x", { deadlineMs: 30 * 86400_000, onInputRequired: () => never }), 1500);
  await within("deadlineMs Infinity", agent.run("x", { deadlineMs: Infinity, onInputRequired: () => never }), 1500);
}
{
  await using server = await startBrokenServer({ answer: (call) => {
    if (call.method === "SendMessage") return respondJson(call.response, { jsonrpc: "2.0", id: call.id, error: { code: -32004, message: "no \x1b[31mmessages\x1b]0;pwn\x07 to tasks" } });
    asking(call); } });
  await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC" });
  await within("answer refused UNSUPPORTED_OPERATION, task still asks", agent.run("x", { onInputRequired: () => "a" }));
}
{
  await using server = await startBrokenServer({ answer: (call) => {
    if (call.method === "SendMessage") return respondJson(call.response, { jsonrpc: "2.0", id: call.id, error: { code: -32602, message: "no \x1b[31mred\x1b]0;pwn\x07" } });
    asking(call); } });
  await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC" });
  await within("answer refused INVALID w/ control seq", agent.run("x", { onInputRequired: () => "a" }));
}
{ // artifact while question open, then somebody else answers
  await using server = await startBrokenServer({ answer: (call) => {
    const s = openStream(call, 1);
    s.send({ task: taskJson("TASK_STATE_SUBMITTED") }); s.send(statusEvent("TASK_STATE_INPUT_REQUIRED", status()));
    setTimeout(() => s.send(chunkEvent("a", false)), 100);
    setTimeout(() => s.send(statusEvent("TASK_STATE_WORKING")), 200);
    setTimeout(() => { s.send(statusEvent("TASK_STATE_COMPLETED")); s.end(); }, 300);
  } });
  await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC" });
  let aborted = false;
  await within("artifact event while asked, then answered by other", agent.run("x", { onInputRequired: (q) => { q.signal.addEventListener("abort", () => { aborted = true; }); return never; } }));
  console.log("  question.signal aborted:", aborted);
}
{ // status re-stamped
  let n = 0;
  await using server = await startBrokenServer({ answer: (call) => {
    const s = openStream(call);
    const st = { ...status(), timestamp: new Date(Date.now()).toISOString() };
    n++;
    s.send({ task: taskJson("TASK_STATE_INPUT_REQUIRED", { status: { state: "TASK_STATE_INPUT_REQUIRED", ...st } }) }); s.end();
  } });
  await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC" });
  let asked = 0;
  const c = new AbortController(); setTimeout(() => c.abort(new Error("enough")), 3000);
  await within("server stamps status anew at each subscribe", agent.run("x", { signal: c.signal, onInputRequired: (q) => { asked++; return new Promise((r) => q.signal.addEventListener("abort", () => r(undefined))); } }));
  console.log("  asked", asked, "calls", n);
}
{ // task id with control characters
  const id = "t\x1b[2J\x1b]0;pwn\x07";
  await using server = await startBrokenServer({ answer: (call) => {
    const s = openStream(call); s.send({ task: { ...taskJson("TASK_STATE_FAILED"), id } }); s.end();
  } });
  await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC" });
  await within("task id with escape sequences, FAILED", agent.run("x"));
}
process.exit(0);
