import type { AgentCard } from "@a2a-connect/proto";
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { JsonTree } from "../content/json-tree.tsx";
import { LinkText } from "../content/link-text.tsx";
import { Markdown } from "../content/markdown.tsx";
import { bindingName, shown, shownLine } from "../content/shown.ts";
import { CredentialsPanel } from "../session/credentials-panel.tsx";
import { explain, type Failure } from "../session/failure.ts";
import { cardSource } from "../session/page-facts.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { FailureNotice } from "../ui/notice.tsx";
import { DifferencesPanel } from "./differences-panel.tsx";
import { SignaturePanel } from "./signature-panel.tsx";

const tabs = ["Card", "JSON", "Conformance"] as const;

/** The agent's card, for people and as it came, and whether the agent keeps to the protocol. */
export function CardView({ card, text }: { readonly card: AgentCard; readonly text: string }): JSX.Element {
  const tab = useSignal<(typeof tabs)[number]>("Card");
  return (
    <div class="page">
      <header class="view-bar">
        <h1>Card</h1>
        <div class="tabs" role="tablist" aria-label="How the card is shown">
          {tabs.map((label) => (
            <button
              key={label}
              type="button"
              role="tab"
              aria-selected={label === tab.value}
              onClick={() => {
                tab.value = label;
              }}
            >
              {label}
            </button>
          ))}
        </div>
        <span class="grow" />
        <CopyButton text={() => text} label="Copy JSON" />
      </header>
      <div class="column">
        {tab.value === "Conformance" ? (
          <LaterConformance />
        ) : tab.value === "JSON" ? (
          <RawCard text={text} />
        ) : (
          <RenderedCard card={card} text={text} />
        )}
      </div>
    </div>
  );
}

/** The conformance kit is as large as the rest of the page, so it is loaded for those who ask for it. */
function LaterConformance(): JSX.Element {
  const view = useSignal<(() => JSX.Element) | undefined>(undefined);
  const failure = useSignal<Failure | undefined>(undefined);
  useEffect(() => {
    import("./conformance-view.tsx").then(
      ({ ConformanceView }) => {
        view.value = ConformanceView;
      },
      (error: unknown) => {
        failure.value = explain(error);
      },
    );
  }, [view, failure]);
  if (failure.value !== undefined) return <FailureNotice failure={failure.value} />;
  const { value: View } = view;
  return View === undefined ? <div class="loading" role="status" aria-label="Loading the kit" /> : <View />;
}

function RawCard({ text }: { readonly text: string }): JSX.Element {
  return (
    <div class="panel json">
      <JsonTree value={JSON.parse(text)} openLevels={3} />
    </div>
  );
}

function RenderedCard({ card, text }: { readonly card: AgentCard; readonly text: string }): JSX.Element {
  const { capabilities, provider } = card;
  const hasTenant = card.supportedInterfaces.some(({ tenant }) => tenant !== "");
  return (
    <>
      <section class="panel">
        <h2>{shownLine(card.name, 120)}</h2>
        <p>{shown(card.description)}</p>
        <dl class="pairs">
          <Pair name="Version">{shownLine(card.version, 100)}</Pair>
          {provider === undefined ? null : (
            <Pair name="Provider">
              <LinkText url={provider.url} label={provider.organization} />
            </Pair>
          )}
          {card.documentationUrl === undefined || card.documentationUrl === "" ? null : (
            <Pair name="Documentation">
              <LinkText url={card.documentationUrl} />
            </Pair>
          )}
          <Pair name="Takes">{shownLine(card.defaultInputModes.join(", "), 300)}</Pair>
          <Pair name="Gives">{shownLine(card.defaultOutputModes.join(", "), 300)}</Pair>
          <Pair name="Streams">{yesNo(capabilities?.streaming)}</Pair>
          <Pair name="Push notifications">{yesNo(capabilities?.pushNotifications)}</Pair>
          <Pair name="Extended card">{yesNo(capabilities?.extendedAgentCard)}</Pair>
        </dl>
      </section>
      <section class="panel">
        <h2>Interfaces</h2>
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th>Binding</th>
                <th>Version</th>
                <th>URL</th>
                {hasTenant ? <th>Tenant</th> : null}
              </tr>
            </thead>
            <tbody>
              {card.supportedInterfaces.map(({ protocolBinding, protocolVersion, url, tenant }, index) => (
                <tr key={index}>
                  <td title={shown(protocolBinding)}>{bindingName(protocolBinding)}</td>
                  <td>{shownLine(protocolVersion, 20)}</td>
                  <td>
                    <code class="address">{shown(url)}</code>
                  </td>
                  {hasTenant ? <td>{shownLine(tenant, 60)}</td> : null}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      <CredentialsPanel card={card} />
      <SignaturePanel url={cardSource} text={text} />
      <DifferencesPanel url={cardSource} text={text} />
      <section class="panel">
        <h2>Skills</h2>
        {card.skills.slice(0, 200).map((skill) => (
          <article key={skill.id} class="card-skill">
            <h3>
              {shownLine(skill.name, 100)} <code>{shownLine(skill.id, 80)}</code>
            </h3>
            <Markdown text={shown(skill.description)} />
            <p class="tags">
              {skill.tags.slice(0, 30).map((tag) => (
                <span key={tag} class="tag">
                  {shownLine(tag, 40)}
                </span>
              ))}
            </p>
          </article>
        ))}
      </section>
      {capabilities === undefined || capabilities.extensions.length === 0 ? null : (
        <section class="panel">
          <h2>Extensions</h2>
          {capabilities.extensions.map((extension) => (
            <article key={extension.uri} class="card-skill">
              <h3>
                <code class="address">{shown(extension.uri)}</code>
                {extension.required ? <span class="tag">required</span> : null}
              </h3>
              <p>{shown(extension.description)}</p>
              {extension.params === undefined ? null : (
                <div class="json">
                  <JsonTree value={extension.params} />
                </div>
              )}
            </article>
          ))}
        </section>
      )}
    </>
  );
}

function Pair({
  name,
  children,
}: {
  readonly name: string;
  readonly children: JSX.Element | string;
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function yesNo(value: boolean | undefined): string {
  return value === true ? "yes" : "no";
}
