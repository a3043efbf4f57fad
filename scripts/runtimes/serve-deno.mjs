import { createHandler } from "./agent.mjs";

const handler = createHandler();
Deno.serve(
  { port: 0, onListen: ({ port }) => console.log(`ready http://localhost:${port}`) },
  (request, info) => handler(request, { remoteAddress: info.remoteAddr.hostname }),
);
