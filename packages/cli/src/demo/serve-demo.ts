import { serve } from "@a2a-connect/node";
import { createMemoryTaskStore } from "@a2a-connect/server";
import type { CommandContext } from "../context.ts";
import { announce } from "../serve/announcement.ts";
import { runServer } from "../serve/run-server.ts";
import { demoAgent } from "./demo-agent.ts";
import { guide } from "./guide.ts";

/** Serves the demo agent until the user interrupts. Its tasks are gone afterwards. */
export async function serveDemo(
  context: CommandContext,
  { port, host }: { readonly port: number; readonly host: string | undefined },
): Promise<void> {
  const options = {
    port,
    ...(host === undefined ? {} : { host }),
    store: createMemoryTaskStore(),
    push: { allow: ["localhost", "127.0.0.1", "[::1]"] }, // receivers on this machine only
  };
  await runServer(
    context,
    port,
    (log) => serve(demoAgent, { ...options, log }),
    (served) => announce(context.output, served, guide(served.url)),
  );
}
