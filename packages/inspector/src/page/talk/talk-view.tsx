import type { AgentCard } from "@a2a-connect/proto";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Composer } from "./composer.tsx";
import { clear, exchanges } from "./conversation.ts";
import { ExchangeView } from "./exchange-view.tsx";
import { ExampleChips, Start } from "./start.tsx";

/** How near the end of the conversation a person must be for it to scroll by itself, in pixels. */
const nearEnd = 120;

/** A conversation with the agent; before its first message, what the agent can do. */
export function TalkView({ card }: { readonly card: AgentCard }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const before = useRef(0);
  const list = exchanges.value;
  useEffect(() => {
    const box = scroller.current;
    const content = box?.firstElementChild;
    if (box === null || content === null || content === undefined) return undefined;
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current && exchanges.value.length > 0) box.scrollTop = box.scrollHeight;
    });
    observer.observe(content);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    isAtEnd.current = true; // a person who sends something wants to see what comes of it
    scroller.current?.scrollTo({ top: list.length === 0 ? 0 : scroller.current.scrollHeight });
  }, [list.length]);
  return (
    <div class="talk">
      {list.length === 0 ? null : (
        <header class="view-bar">
          <h1>Talk</h1>
          <button type="button" class="button small quiet" onClick={clear}>
            New conversation
          </button>
        </header>
      )}
      <div
        class="scroller"
        ref={scroller}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          // Content that grows also leaves the end behind; only a person scrolls back.
          if (scrollTop < before.current) isAtEnd.current = false;
          if (scrollHeight - scrollTop - clientHeight < nearEnd) isAtEnd.current = true;
          before.current = scrollTop;
        }}
      >
        <div class="column" role="log" aria-label="Conversation">
          {list.length === 0 ? (
            <Start card={card} />
          ) : (
            list.map((exchange) => <ExchangeView key={exchange.key} exchange={exchange} />)
          )}
        </div>
      </div>
      {list.length === 0 ? null : <ExampleChips card={card} />}
      <Composer />
    </div>
  );
}
