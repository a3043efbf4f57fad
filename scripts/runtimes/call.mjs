// Calls the agent of a URL with the client of a package, and prints what each wire can do.

import { callAgent } from "./client.mjs";

const [name, url, ...wires] = globalThis.Deno?.args ?? process.argv.slice(2);
try {
  const { connectAgent } = await import(name);
  console.log(JSON.stringify(await callAgent(connectAgent, url, wires.length === 0 ? undefined : wires)));
} catch (error) {
  console.log(JSON.stringify({ error: error.message }));
}
process.exit(0);
