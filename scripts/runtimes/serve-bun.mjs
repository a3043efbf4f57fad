import { createHandler } from "./agent.mjs";

const handler = createHandler();
const { port } = Bun.serve({
  port: 0,
  fetch: (request, server) => handler(request, { remoteAddress: server.requestIP(request)?.address }),
});
console.log(`ready http://localhost:${port}`);
