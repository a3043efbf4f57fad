import { type AgentClient, connectAgent } from "@a2a-connect/client";
import type { AgentCard } from "@a2a-connect/proto";
import { type ReadonlySignal, signal } from "@preact/signals";
import { explain, type Failure } from "./failure.ts";
import { cardUrl } from "./page-facts.ts";
import { pageFetch, pagePlatform } from "./page-fetch.ts";

/** How the page stands with the agent. */
export type Connection =
  | { readonly is: "connecting" }
  | { readonly is: "connected"; readonly agent: AgentClient; readonly cardText: string }
  | { readonly is: "failed"; readonly failure: Failure };

const current = signal<Connection>({ is: "connecting" });
const latestWarning = signal<Warning | undefined>(undefined);

export const connection: ReadonlySignal<Connection> = current;

/** What the client finds unusual, such as an agent that is away. */
export interface Warning {
  readonly text: string;
  readonly at: number;
}

/** The newest of them. */
export const warning: ReadonlySignal<Warning | undefined> = latestWarning;

/** Reads the agent's card, and connects. What went wrong is in `connection`. */
export async function connect(): Promise<void> {
  current.value = { is: "connecting" };
  try {
    let cardText = "";
    const agent = await connectAgent(cardUrl, {
      fetch: pageFetch,
      platform: pagePlatform,
      verifyCard: ({ text, extended }) => {
        if (!extended) cardText = text; // nothing is refused here: the card's view shows the verdict
      },
      onWarning: (text) => {
        latestWarning.value = { text, at: Date.now() };
      },
    });
    current.value = { is: "connected", agent, cardText };
    document.title = `${agent.card.name.slice(0, 60)} · A2A inspector`;
  } catch (error) {
    current.value = { is: "failed", failure: explain(error) };
  }
}

/** The connected agent, for what is shown only when there is one. @throws Error when there is none */
export function connectedAgent(): AgentClient {
  const { value } = current;
  if (value.is !== "connected") throw new Error("the page is not connected to an agent");
  return value.agent;
}

/** The card in use; undefined while there is none. */
export function currentCard(): AgentCard | undefined {
  return current.value.is === "connected" ? current.value.agent.card : undefined;
}
