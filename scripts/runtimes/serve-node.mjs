// serve() of @a2a-connect/node, with all wires.

import { serve } from "@a2a-connect/node";
import { createMemoryTaskStore } from "@a2a-connect/server";
import { agent } from "./agent.mjs";

const { url } = await serve(agent, { port: 0, store: createMemoryTaskStore() });
console.log(`ready ${url}`);
