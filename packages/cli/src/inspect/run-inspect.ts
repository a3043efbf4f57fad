import { type Listener, listen } from "@a2a-connect/node";
import { nodePlatform } from "@a2a-connect/node/client";
import type { Transport } from "@connectrpc/connect";
import { type CommandContext, closeLater } from "../context.ts";
import { runServer } from "../serve/run-server.ts";
import { createInspectHandler, type InspectedAgent } from "./inspect-handler.ts";

/** Serves the inspector's page for agents (default: that of `--agent-card`) on this machine, until the user interrupts. */
export async function runInspect(
  context: CommandContext,
  references: readonly string[],
  { port }: { readonly port: number },
): Promise<void> {
  const { output } = context;
  const { loadInspector } = await import("@a2a-connect/inspector");
  const opened: AsyncDisposable[] = [];
  await using _closing = closeLater(opened);
  const agents: InspectedAgent[] = [];
  for (const reference of references.length === 0 ? [undefined] : references) {
    agents.push(await findAgent(context, reference, opened));
  }
  await runServer<Listener>(
    context,
    { port, graceMs: 0 },
    () => listen(createInspectHandler(agents, loadInspector), { port }),
    async ({ url }) => {
      await output.document({ url: `${url}/`, agents: agents.map(({ name }) => name) });
      for (const { name } of agents) await output.field("Agent", name);
      await output.field("Inspector", `${url}/`);
      await output.note("Open it in a browser; Ctrl-C stops it");
    },
  );
}

async function findAgent(
  context: CommandContext,
  reference: string | undefined,
  opened: AsyncDisposable[],
): Promise<InspectedAgent> {
  const { text, url, settings, read } = await context.receiveCard(reference);
  const { name } = await read();
  const cardUrl = url === undefined ? undefined : new URL(url);
  const platform = nodePlatform({
    tls: { insecure: settings.insecure },
    untrusted: true,
    ...(cardUrl && { cardUrl }),
  });
  opened.push({ [Symbol.asyncDispose]: () => platform.close() });
  const openGrpc = (address: string): Transport => {
    const grpc = platform.transports?.find(
      ({ binding, versions }) => binding === "GRPC" && versions === undefined,
    );
    if (grpc === undefined) throw new Error("this platform has no gRPC");
    const limits = { maxResponseBytes: 64 * 2 ** 20, connectTimeoutMs: 10_000 };
    const open = grpc.open({ url: address, fetch: globalThis.fetch, interceptors: [], ...limits });
    opened.push({ [Symbol.asyncDispose]: async () => open.close() });
    return open.transport;
  };
  const { fetch = globalThis.fetch, guardedFetch = fetch } = platform;
  return { name, card: text, cardUrl, fetch, guardedFetch, openGrpc };
}
