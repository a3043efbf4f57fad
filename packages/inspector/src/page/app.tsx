import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { shown, shownLine } from "./content/shown.ts";
import { LaterView, loadViews } from "./later.tsx";
import { linkTo, route, type View } from "./route.ts";
import { agentLinks, cardSource } from "./session/page-facts.ts";
import { type Connection, connect, connection, warning } from "./session/session.ts";
import { Monogram } from "./talk/start.tsx";
import { TalkView } from "./talk/talk-view.tsx";
import { OpenLogButton } from "./task/open-log.tsx";
import { Icon, type IconName } from "./ui/icon.tsx";
import { FailureNotice } from "./ui/notice.tsx";
import { now } from "./ui/time.ts";

const views: readonly { readonly view: View; readonly icon: IconName; readonly label: string }[] = [
  { view: "talk", icon: "talk", label: "Talk" },
  { view: "tasks", icon: "tasks", label: "Tasks" },
  { view: "wires", icon: "wires", label: "Wires" },
  { view: "card", icon: "card", label: "Card" },
];

/** How long after the first screen the other views come, in milliseconds: an agent that ends then has shown them all. */
const preloadMs = 1_500;

/** The whole page: the agent and the views on one side, the chosen view on the other. */
export function App(): JSX.Element {
  const state = connection.value;
  useEffect(() => {
    const timer = setTimeout(loadViews, preloadMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="app">
      <aside class="rail">
        <Identity state={state} />
        <nav aria-label="Views">
          {views.map(({ view, icon, label }) => (
            <a key={view} href={linkTo(view)} aria-current={isOn(view) ? "page" : undefined}>
              <Icon name={icon} />
              {label}
            </a>
          ))}
        </nav>
        <AgentSwitcher />
        <span class="grow" />
        <Toast />
        <ThemeButton />
      </aside>
      <main>
        <CurrentView state={state} />
      </main>
    </div>
  );
}

/** How long a warning is shown, in milliseconds. */
const toastMs = 8_000;

/** What the client has just found unusual. */
function Toast(): JSX.Element {
  const latest = warning.value;
  const isShown = latest !== undefined && now.value - latest.at < toastMs;
  return (
    <div class="toast" role="status">
      {isShown ? <p class="notice">{shown(latest.text)}</p> : null}
    </div>
  );
}

/** The other agents that are looked at, each with a page of its own. */
function AgentSwitcher(): JSX.Element | null {
  if (agentLinks.length < 2) return null;
  return (
    <select
      class="switcher"
      aria-label="Agent"
      onChange={(event) => location.assign(event.currentTarget.value)}
    >
      {agentLinks.map(({ name, href, isThis }) => (
        <option key={href} value={href} selected={isThis}>
          {shownLine(name, 60)}
        </option>
      ))}
    </select>
  );
}

function isOn(view: View): boolean {
  return route.value.view === view || (view === "tasks" && route.value.view === "task");
}

function CurrentView({ state }: { readonly state: Connection }): JSX.Element {
  const { view, subject } = route.value;
  if (view === "task" && subject === "") {
    return <LaterView>{({ OpenedLogView }) => <OpenedLogView />}</LaterView>;
  }
  if (state.is !== "connected") return <Unconnected state={state} />;
  const { agent, cardText } = state;
  const { card } = agent;
  if (view === "talk") return <TalkView card={card} />;
  return (
    <LaterView>
      {({ TasksView, FollowedTaskView, WiresView, CardView }) => {
        switch (view) {
          case "tasks":
            return <TasksView agent={agent} />;
          case "task":
            return <FollowedTaskView key={subject} agent={agent} taskId={subject} />;
          case "wires":
            return <WiresView agent={agent} />;
          case "card":
            return <CardView card={card} text={cardText} />;
        }
      }}
    </LaterView>
  );
}

function Identity({ state }: { readonly state: Connection }): JSX.Element {
  const name = state.is === "connected" ? state.agent.card.name : "Agent";
  const version = state.is === "connected" ? state.agent.card.version : "";
  const words = { connecting: "connecting", connected: "connected", failed: "not connected" };
  return (
    <div class="identity">
      <Monogram name={name} />
      <div>
        <strong>{shownLine(name, 60)}</strong>
        <span class={`status is-${state.is}`}>
          {words[state.is]}
          {version === "" ? "" : ` · ${shownLine(version, 24)}`}
        </span>
      </div>
    </div>
  );
}

function Unconnected({ state }: { readonly state: Connection }): JSX.Element {
  if (state.is !== "failed")
    return <div class="loading" role="status" aria-label="Connecting to the agent" />;
  return (
    <div class="page">
      <div class="column">
        <section class="panel">
          <h1>The agent cannot be used</h1>
          <p class="muted">
            Its card is at <code class="address">{cardSource}</code>
          </p>
          <FailureNotice failure={state.failure} />
          <div class="choices">
            <button type="button" class="button is-primary" onClick={() => void connect()}>
              Try again
            </button>
            <OpenLogButton />
          </div>
        </section>
      </div>
    </div>
  );
}

const theme = signal<"light" | "dark" | undefined>(undefined);

/** Light or dark: as the system has it, until a person chooses. */
function ThemeButton(): JSX.Element {
  const systemIsDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const isDark = theme.value === undefined ? systemIsDark : theme.value === "dark";
  useEffect(() => {
    if (theme.value !== undefined) document.documentElement.dataset["theme"] = theme.value;
  }, [theme.value]);
  return (
    <button
      type="button"
      class="button small quiet theme"
      onClick={() => {
        theme.value = isDark ? "light" : "dark";
      }}
    >
      <Icon name={isDark ? "light" : "dark"} />
      <span class="wide-only">{isDark ? "Light" : "Dark"}</span>
    </button>
  );
}
