import type { JsonValue } from "@bufbuild/protobuf";
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { shown } from "./shown.ts";

/** Members that are shown before a person asks for more. */
const pageLength = 50;

/** Longest string that is shown before a person asks for all of it. */
const shownLength = 1_000;

/** JSON as a tree. What is closed costs nothing, at any size. */
export function JsonTree({
  value,
  name,
  openLevels = 2,
}: {
  readonly value: JsonValue;
  readonly name?: string;
  /** How many levels are open at first. */
  readonly openLevels?: number;
}): JSX.Element {
  if (typeof value !== "object" || value === null) {
    return (
      <div class="json-row">
        <Name name={name} />
        <Scalar value={value} />
      </div>
    );
  }
  return <Branch value={value} name={name} openLevels={openLevels} />;
}

function Branch({
  value,
  name,
  openLevels,
}: {
  readonly value: JsonValue & object;
  readonly name: string | undefined;
  readonly openLevels: number;
}): JSX.Element {
  const isOpen = useSignal(openLevels > 0);
  const count = useSignal(pageLength);
  const isList = Array.isArray(value);
  const keys = Object.keys(value);
  const summary = isList ? `[${keys.length}]` : `{${keys.length}}`;
  if (keys.length === 0) {
    return (
      <div class="json-row">
        <Name name={name} />
        <span class="json-punctuation">{isList ? "[]" : "{}"}</span>
      </div>
    );
  }
  return (
    <div class="json-branch">
      <button
        type="button"
        class="json-toggle"
        aria-expanded={isOpen.value}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        <span class="json-arrow" aria-hidden="true" />
        <Name name={name} />
        <span class="json-punctuation">{summary}</span>
      </button>
      {isOpen.value ? (
        <div class="json-children">
          {keys.slice(0, count.value).map((key) => (
            <JsonTree
              key={key}
              name={key}
              value={(isList ? value[Number(key)] : (value as Record<string, JsonValue>)[key]) ?? null}
              openLevels={openLevels - 1}
            />
          ))}
          {keys.length > count.value ? (
            <button
              type="button"
              class="link"
              onClick={() => {
                count.value += 10 * pageLength;
              }}
            >
              {keys.length - count.value} more
            </button>
          ) : null}
        </div>
      ) : null}
    </div>
  );
}

function Name({ name }: { readonly name: string | undefined }): JSX.Element | null {
  return name === undefined ? null : <span class="json-name">{shown(name.slice(0, shownLength))}: </span>;
}

function Scalar({ value }: { readonly value: string | number | boolean | null }): JSX.Element {
  const isWhole = useSignal(false);
  if (typeof value !== "string") return <span class={`json-${typeof value}`}>{String(value)}</span>;
  const isLong = value.length > shownLength && !isWhole.value;
  return (
    <span class="json-string">
      {shown(JSON.stringify(isLong ? value.slice(0, shownLength) : value))}
      {isLong ? (
        <button
          type="button"
          class="link"
          onClick={() => {
            isWhole.value = true;
          }}
        >
          … {value.length - shownLength} more characters
        </button>
      ) : null}
    </span>
  );
}
