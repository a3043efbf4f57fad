import { openAgentClient } from "./agent-client.ts";
import { type BenchClient, type ClientKind, type ClientWire, otherEvents } from "./bench-client.ts";
import type { ClientReply, Work } from "./client-control.ts";
import { openConnectClient } from "./connect-client.ts";
import { openSdkClient } from "./sdk-client.ts";

/** A client and nothing else, so that what this process spends is what the client costs. Ends when the bench is gone. */
const openers: Readonly<
  Record<ClientKind, (url: string, wire: ClientWire) => BenchClient | Promise<BenchClient>>
> = { agent: openAgentClient, sdk: openSdkClient, connect: openConnectClient };

const [, , kind, wire, url = ""] = process.argv;
const client = await openers[kind as ClientKind](url, wire as ClientWire); // start-client wrote them
process.on("message", async (work: Work) => {
  const before = process.cpuUsage();
  const started = performance.now();
  const units = await perform(work);
  const { user, system } = process.cpuUsage(before);
  reply({ kind: "spent", spent: { units, cpuUs: user + system, elapsedMs: performance.now() - started } });
});
process.on("disconnect", () => process.exit(0));
reply({ kind: "ready" });

/** @returns the tasks, or the events, that there were */
async function perform({ kind, count }: Work): Promise<number> {
  if (kind === "tasks") {
    for (let done = 0; done < count; done++) {
      await client.finish("task hello");
    }
    return count;
  }
  const events = await client.countEvents(`stream ${count}`);
  if (events !== count + otherEvents) {
    throw new Error(`the stream had ${events} events instead of ${count + otherEvents}`);
  }
  return events;
}

function reply(message: ClientReply): void {
  process.send?.(message);
}
