import { startAgentHarness } from "@a2a-connect/testing";
import type { Interceptor } from "@connectrpc/connect";
import { startAlteringGrpcProxy } from "../altering-grpc-proxy.ts";
import { startAlteringProxy } from "../altering-proxy.ts";
import { planServers, type ServerPlan } from "../servers.ts";
import { type Fault, isBehindProxy, type Mutant } from "./mutant.ts";

/** Starts a server as a mutant needs it, which does that wrong. Behind proxies, streams pass only when they have ended. */
export async function startMutant(
  mutant: Mutant,
  fault: Fault,
): Promise<AsyncDisposable & { readonly url: string }> {
  await using stack = new AsyncDisposableStack();
  const { options } = planServers()[mutant.server ?? "push"];
  let { url } = stack.use(await startAgentHarness(withFault(options, fault)));
  if (isBehindProxy(mutant)) {
    const { ask, alter, alterGrpc = () => {} } = fault;
    const { address: grpcAddress } = stack.use(await startAlteringGrpcProxy(url, alterGrpc));
    ({ url } = stack.use(
      await startAlteringProxy(url, {
        ...(ask === undefined ? {} : { ask }),
        ...(alter === undefined ? {} : { alter }),
        grpcAddress,
      }),
    ));
  }
  const running = stack.move();
  return { url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function withFault(options: ServerPlan["options"], { calls, post }: Fault): ServerPlan["options"] {
  const { push, wires } = options;
  const interceptors: Interceptor[] = [
    ...(calls === undefined ? [] : [calls]),
    ...(wires?.interceptors ?? []),
  ];
  const faulty = { ...options, wires: { ...wires, interceptors } };
  if (post === undefined || typeof push !== "object" || !("fetch" in push)) return faulty;
  const fetch: typeof push.fetch = async (url, init) => {
    const changed = post(init);
    return changed === undefined ? new Response(null, { status: 204 }) : push.fetch(url, changed);
  };
  return { ...faulty, push: { ...push, fetch } };
}
