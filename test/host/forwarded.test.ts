// Several agents behind a proxy: the catalog names the URLs that the cards have, signed or not.
import { type ServeAgentsOptions, serve } from "@a2a-connect/node";
import { createMemoryTaskStore } from "@a2a-connect/server";
import { generateSigningKey } from "@a2a-connect/signing";
import { expect, it } from "vitest";
import { namedAgent, names } from "./hosted-agents.ts";

const listed = { forwardedHosts: ["public.example"] };

it.each<
  [
    what: string,
    isSigned: boolean,
    options: ServeAgentsOptions<"alpha" | "beta">,
    host: string,
    isTaken: boolean,
  ]
>([
  ["unsigned, with nothing listed", false, {}, "public.example", true],
  ["unsigned, with the host listed", false, listed, "public.example", true],
  ["unsigned, with another host listed", false, listed, "evil.example", false],
  ["signed, with nothing listed", true, {}, "public.example", false],
  ["signed, with the host listed", true, listed, "public.example", true],
  ["signed, with another host listed", true, listed, "evil.example", false],
])("the catalog leads to the cards where they are: %s", async (_what, isSigned, options, host, isTaken) => {
  const { privateJwk } = await generateSigningKey();
  const signing = isSigned ? { signing: { keys: [{ key: privateJwk }] } } : {};
  const store = createMemoryTaskStore;
  await using served = await serve(
    {
      alpha: { agent: namedAgent("alpha"), store: store(), ...signing },
      beta: { agent: namedAgent("beta"), store: store(), ...signing },
    },
    { trustedProxies: ["loopback"], ...options },
  );
  const headers = { "x-forwarded-host": host, "x-forwarded-proto": "https" };
  const read = async (path: string) => {
    const response = await fetch(served.url + path, { headers });
    expect(response.headers.get("vary")).toContain("x-forwarded-host");
    return response.json();
  };
  const base = isTaken ? `https://${host}` : served.url;
  const { entries } = await read("/.well-known/ai-catalog.json");
  expect(entries.map(({ identifier }: { identifier: string }) => identifier)).toEqual(
    names.map((name) => `${base}/agents/${name}`),
  );
  for (const name of names) {
    const card = await read(`/agents/${name}/.well-known/agent-card.json`);
    expect(card.supportedInterfaces[0].url).toBe(`${base}/agents/${name}/rpc`);
  }
});
