/** One of several agents that are looked at. */
export interface AgentLink {
  readonly name: string;
  readonly href: string;
  readonly isThis: boolean;
}

function readFact(name: string): string | undefined {
  const { content } = document.querySelector<HTMLMetaElement>(`meta[name="a2a-${name}"]`) ?? {};
  return content === "" ? undefined : content;
}

/** Below this address `a2a inspect` forwards calls; undefined when the page comes from the agent itself. */
export const forwardUrl: string | undefined = readFact("forward");

/** Where the page gets the card. */
export const cardUrl: string = new URL(".well-known/agent-card.json", document.baseURI).href;

/** Where the card is, as others see it. */
export const cardSource: string = readFact("card") ?? cardUrl;

/** The agents beside each other, this one included. `a2a inspect` has written the list. */
export const agentLinks: readonly AgentLink[] = JSON.parse(readFact("agents") ?? "[]");
