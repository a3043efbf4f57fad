import type { AgentCard, AgentSkill } from "@a2a-connect/proto";
import type { JSX } from "preact";
import { Markdown } from "../content/markdown.tsx";
import { shown, shownLine } from "../content/shown.ts";
import { sendExample } from "./conversation.ts";

const maxSkills = 60;

/** What the agent can do, with examples that are one click away: what a first visitor sees. */
export function Start({ card }: { readonly card: AgentCard }): JSX.Element {
  const { name, description, skills, capabilities } = card;
  return (
    <div class="start">
      <div class="hero">
        <Monogram name={name} />
        <h1>{shownLine(name, 120)}</h1>
        <p class="lead">{shown(description.slice(0, 1_000))}</p>
        <ul class="facts">
          {capabilities?.streaming === true ? <li>Streams</li> : null}
          {capabilities?.pushNotifications === true ? <li>Push notifications</li> : null}
          <li>{skills.length === 1 ? "1 skill" : `${skills.length} skills`}</li>
          <li>{countWires(card)}</li>
        </ul>
      </div>
      <h2 class="hidden">Skills</h2>
      <div class="skills">
        {skills.slice(0, maxSkills).map((skill) => (
          <Skill key={skill.id} skill={skill} />
        ))}
      </div>
    </div>
  );
}

function Skill({ skill }: { readonly skill: AgentSkill }): JSX.Element {
  return (
    <article class="skill">
      <h3>{shownLine(skill.name, 100)}</h3>
      <Markdown text={shown(skill.description.slice(0, 600))} />
      {skill.examples.length === 0 ? null : (
        <div class="examples">
          {skill.examples.slice(0, 8).map((example) => (
            <button
              key={example}
              type="button"
              class="button example"
              onClick={() => sendExample(example, skill.id)}
            >
              {shownLine(example, 120)}
            </button>
          ))}
        </div>
      )}
    </article>
  );
}

/** Examples that stay at hand in a conversation. */
const maxChips = 8;

/** The skills' examples in one row. */
export function ExampleChips({ card }: { readonly card: AgentCard }): JSX.Element | null {
  const examples = card.skills.flatMap(({ id, examples: texts }) =>
    texts.map((example) => ({ id, example })),
  );
  if (examples.length === 0) return null;
  return (
    <fieldset class="chips">
      <legend class="hidden">Examples</legend>
      {examples.slice(0, maxChips).map(({ id, example }) => (
        <button
          key={`${id} ${example}`}
          type="button"
          class="button small example"
          onClick={() => sendExample(example, id)}
        >
          {shownLine(example, 40)}
        </button>
      ))}
    </fieldset>
  );
}

function countWires({ supportedInterfaces }: AgentCard): string {
  const { size } = new Set(supportedInterfaces.map(({ protocolBinding }) => protocolBinding));
  return size === 1 ? "1 wire" : `${size} wires`;
}

/** The first letter of the agent's name: its own icon would be a request to another server. */
export function Monogram({ name }: { readonly name: string }): JSX.Element {
  const [letter = "A"] = Array.from(name.replaceAll(/[^\p{L}\p{N}]/gu, ""));
  return (
    <span class="monogram" aria-hidden="true">
      {letter.toUpperCase()}
    </span>
  );
}
