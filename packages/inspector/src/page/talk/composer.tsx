import { file } from "@a2a-connect/client";
import { json, text } from "@a2a-connect/core";
import type { Part } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { formatBytes, shownLine } from "../content/shown.ts";
import { currentCard } from "../session/session.ts";
import { Icon } from "../ui/icon.tsx";
import { findAsking, send } from "./conversation.ts";

/** Where a person writes what is sent: text or JSON, and files. */
export function Composer(): JSX.Element {
  const isJson = useSignal(false);
  const skill = useSignal("");
  const files = useSignal<readonly File[]>([]);
  const problem = useSignal("");
  const box = useRef<HTMLTextAreaElement>(null);
  const asking = findAsking();
  const skills = currentCard()?.skills ?? [];

  async function submit(): Promise<void> {
    const written = box.current?.value ?? "";
    if (written.trim() === "" && files.value.length === 0) return;
    let parts: Part[];
    try {
      parts = [
        ...(written.trim() === ""
          ? []
          : [isJson.value ? json(JSON.parse(written) as JsonValue) : text(written)]),
        ...(await Promise.all(files.value.map((each) => file(each)))),
      ];
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error);
      return;
    }
    problem.value = "";
    files.value = [];
    if (box.current !== null) {
      box.current.value = "";
      grow(box.current);
    }
    send({ parts, skill: skill.value === "" ? undefined : skill.value });
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        files.value = [...files.value, ...(event.dataTransfer?.files ?? [])];
      }}
    >
      {files.value.length === 0 ? null : (
        <ul class="attached">
          {files.value.map((each, index) => (
            <li key={`${index}${each.name}`}>
              {shownLine(each.name, 60)} <span class="muted">{formatBytes(each.size)}</span>
              <button
                type="button"
                class="link"
                aria-label={`Remove ${each.name}`}
                onClick={() => {
                  files.value = files.value.filter((other) => other !== each);
                }}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={box}
        rows={1}
        class={isJson.value ? "is-mono" : ""}
        aria-label={asking === undefined ? "Message to the agent" : "Answer to the agent"}
        placeholder={
          isJson.value ? '{"any": "JSON"}' : asking === undefined ? "Write to the agent" : "Your answer"
        }
        onInput={(event) => grow(event.currentTarget)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          void submit();
        }}
      />
      <div class="composer-row">
        <label class="button small quiet">
          <Icon name="attach" />
          Attach
          <input
            class="hidden"
            type="file"
            multiple
            onChange={(event) => {
              files.value = [...files.value, ...(event.currentTarget.files ?? [])];
              event.currentTarget.value = "";
            }}
          />
        </label>
        <button
          type="button"
          class="button small quiet"
          aria-pressed={isJson.value}
          onClick={() => {
            isJson.value = !isJson.value;
          }}
        >
          JSON
        </button>
        {skills.length < 2 || asking !== undefined ? null : (
          <select
            class="small"
            aria-label="Skill"
            value={skill.value}
            onChange={(event) => {
              skill.value = event.currentTarget.value;
            }}
          >
            <option value="">Any skill</option>
            {skills.slice(0, 200).map(({ id, name }) => (
              <option key={id} value={id}>
                {shownLine(name, 60)}
              </option>
            ))}
          </select>
        )}
        <span class="grow problem" role="alert">
          {problem.value}
        </span>
        <button type="submit" class="button is-primary">
          <Icon name="send" />
          <span class="wide-only">{asking === undefined ? "Send" : "Answer"}</span>
        </button>
      </div>
    </form>
  );
}

/** As high as what is written, within limits that the style sets. */
function grow(box: HTMLTextAreaElement): void {
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}
