import { Miniflare } from "miniflare";

const workers = new Miniflare({
  modules: true,
  scriptPath: "worker/worker.js",
  compatibilityDate: "2026-01-01",
  durableObjects: { AGENT: "Agent" },
});
console.log(`ready ${String(await workers.ready).replace(/\/$/, "")}`);
// Without this its child process stays, because the end of this one stops nothing else.
process.once("SIGTERM", async () => {
  await workers.dispose();
  process.exit();
});
