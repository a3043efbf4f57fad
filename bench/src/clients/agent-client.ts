import { connectAgent } from "@a2a-connect/node/client";
import type { BenchClient, ClientWire } from "./bench-client.ts";

/** Our client with its defaults, as docs/client.md shows it. */
export async function openAgentClient(url: string, wire: ClientWire): Promise<BenchClient> {
  const agent = await connectAgent(url, { pinBinding: wire });
  return {
    async finish(command) {
      const result = await agent.run(command);
      if (!command.endsWith(` ${result.text()}`)) {
        throw new Error(`"${command}" gave "${result.text()}"`);
      }
    },
    async countEvents(command) {
      let events = 0;
      for await (const _ of agent.stream(command)) {
        events += 1;
      }
      return events;
    },
  };
}
