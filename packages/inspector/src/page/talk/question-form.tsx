import { readQuestion } from "@a2a-connect/client/internal";
import { json, text } from "@a2a-connect/core";
import { isObject } from "@a2a-connect/core/internal";
import { TaskSchema, TaskState } from "@a2a-connect/proto";
import { create, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import type { JSX } from "preact";
import { shownLine } from "../content/shown.ts";
import type { Exchange } from "./exchange.ts";

/** What a question offers besides free text: its choices as buttons, its schema as a form. */
export function QuestionForm({ exchange }: { readonly exchange: Exchange }): JSX.Element {
  const { taskId, contextId, status } = exchange.fold;
  const task = create(TaskSchema, { id: taskId, contextId, ...(status === undefined ? {} : { status }) });
  const { choices, schema, kind } = readQuestion(task, new AbortController().signal);
  const fields = fieldsOf(schema);
  return (
    <div class="question">
      {choices === undefined ? null : (
        <fieldset class="choices">
          <legend class="hidden">Choices of the agent</legend>
          {choices.slice(0, 100).map((choice) => (
            <button
              key={choice}
              type="button"
              class="button"
              onClick={() => void exchange.answer([text(choice)])}
            >
              {shownLine(choice, 200)}
            </button>
          ))}
        </fieldset>
      )}
      {fields === undefined ? null : <SchemaForm exchange={exchange} fields={fields} />}
      <p class="muted">
        {status?.state === TaskState.AUTH_REQUIRED || kind === "auth"
          ? "The task waits until you have signed in where the agent says. Then send it any message below."
          : choices === undefined && fields === undefined
            ? "The agent waits for your answer: write it below."
            : "Or write another answer below."}
      </p>
    </div>
  );
}

/** A field of a form, from a property of a JSON Schema. */
interface Field {
  readonly name: string;
  readonly label: string;
  readonly help: string;
  readonly type: "string" | "number" | "integer" | "boolean";
  readonly options: readonly JsonValue[] | undefined;
  readonly isRequired: boolean;
}

const maxFields = 40;

/** The fields of a schema of an object with plain properties; undefined for others, which are answered as text or JSON. */
function fieldsOf(schema: JsonObject | undefined): readonly Field[] | undefined {
  const properties = schema?.["properties"];
  if (!isObject(properties)) return undefined;
  const required = Array.isArray(schema?.["required"]) ? schema["required"] : [];
  const fields: Field[] = [];
  for (const [name, property] of Object.entries(properties).slice(0, maxFields)) {
    if (!isObject(property)) return undefined;
    const options = Array.isArray(property["enum"]) ? property["enum"] : undefined;
    const type = property["type"] ?? (options === undefined ? undefined : "string");
    if (type !== "string" && type !== "number" && type !== "integer" && type !== "boolean") return undefined;
    fields.push({
      name,
      label: shownLine(String(property["title"] ?? name), 80),
      help: typeof property["description"] === "string" ? shownLine(property["description"], 300) : "",
      type,
      options,
      isRequired: required.includes(name),
    });
  }
  return fields.length === 0 ? undefined : fields;
}

function SchemaForm({
  exchange,
  fields,
}: {
  readonly exchange: Exchange;
  readonly fields: readonly Field[];
}): JSX.Element {
  return (
    <form
      class="schema-form"
      onSubmit={(event) => {
        event.preventDefault();
        const data = new FormData(event.currentTarget);
        const answer = Object.fromEntries(fields.flatMap((field) => answerOf(field, data.get(field.name))));
        void exchange.answer([json(answer)]);
      }}
    >
      {fields.map((field) => (
        <label
          key={field.name}
          for={`answer-${field.name}`}
          class={field.type === "boolean" ? "is-inline" : ""}
        >
          <span>
            {field.label}
            {field.isRequired ? "" : " (optional)"}
          </span>
          <FieldInput field={field} />
          {field.help === "" ? null : <small class="muted">{field.help}</small>}
        </label>
      ))}
      <button type="submit" class="button is-primary">
        Answer
      </button>
    </form>
  );
}

function FieldInput({ field }: { readonly field: Field }): JSX.Element {
  const { name, type, options, isRequired: required } = field;
  const id = `answer-${name}`;
  if (options !== undefined) {
    return (
      <select id={id} name={name} required={required}>
        {required ? null : <option value="" />}
        {options.map((option, index) => (
          <option key={index} value={String(index)}>
            {shownLine(String(option), 100)}
          </option>
        ))}
      </select>
    );
  }
  if (type === "boolean") return <input id={id} name={name} type="checkbox" />;
  if (type === "string") return <input id={id} name={name} type="text" required={required} />;
  return (
    <input id={id} name={name} type="number" required={required} step={type === "integer" ? 1 : "any"} />
  );
}

function answerOf(
  { name, type, options }: Field,
  entered: FormDataEntryValue | null,
): [name: string, value: JsonValue][] {
  if (type === "boolean" && options === undefined) return [[name, entered !== null]];
  if (typeof entered !== "string" || entered === "") return [];
  if (options !== undefined) return [[name, options[Number(entered)] ?? null]];
  return [[name, type === "string" ? entered : Number(entered)]];
}
