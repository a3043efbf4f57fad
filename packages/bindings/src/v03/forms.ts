import { isObject, report, reportAt } from "@a2a-connect/core/internal";
import type { JsonObject } from "@bufbuild/protobuf";
import { cardForm } from "./card-form.ts";
import { type Form, list, type Members, names, type Row, record, reportMissing, same } from "./form.ts";
import { partForm } from "./part-form.ts";

/**
 * The older ways to write a message: `json` as JSON-RPC does, with a `kind` in each object, and `proto` as the JSON of the
 * messages of `a2a.v1`, which gRPC and HTTP+JSON use.
 */
export type Dialect = "json" | "proto";

/** The messages of A2A that have an older form, by what they are for. */
export interface Forms {
  readonly sendMessageRequest: Form;
  readonly getTaskRequest: Form;
  /** Of CancelTask and SubscribeToTask. */
  readonly taskRequest: Form;
  readonly pushConfig: Form;
  readonly createPushConfigRequest: Form;
  /** What DeleteTaskPushNotificationConfig answers. */
  readonly nothing: Form;
  /** Of the calls that read or delete one push config. */
  readonly pushConfigRequest: Form;
  readonly listPushConfigsRequest: Form;
  readonly listPushConfigsResponse: Form;
  readonly message: Form;
  readonly task: Form;
  /** A task, a message or an event: what a send or a stream answers with. */
  readonly payload: Form;
  readonly card: Form;
}

/** The one table of what older versions name or write in another way. */
export function createForms(dialect: Dialect): Forms {
  const isJson = dialect === "json";
  const kind = (name: string) => ({ kind: isJson ? name : undefined });
  const role: Form = isJson
    ? names([
        ["ROLE_USER", "user"],
        ["ROLE_AGENT", "agent"],
      ])
    : same;
  const state: Form = isJson ? names(states) : names(states.map(([name]) => [name, protoState(name)]));
  const part = partForm(dialect);
  const message = record(
    [
      ["messageId"],
      ["contextId"],
      ["taskId"],
      ["role", "role", role],
      ["parts", isJson ? "parts" : "content", list(part)],
      ["metadata"],
      ["extensions"],
      ...rows(isJson, ["referenceTaskIds"]),
    ],
    {
      ...kind("message"),
      addCurrent(current) {
        current["messageId"] ??= `${generatedId}${crypto.randomUUID()}`; // before 0.2 a message had no id
      },
    },
  );
  const status = record([["state", "state", state], ["message", "message", message], ["timestamp"]]);
  const artifact = record([
    ["artifactId"],
    ["name"],
    ["description"],
    ["parts", "parts", list(part)],
    ["metadata"],
    ["extensions"],
  ]);
  const ids: readonly Row[] = [["taskId"], ["contextId"]];
  const task = record(
    [
      ["id"],
      ["contextId"],
      ["status", "status", status],
      ["artifacts", "artifacts", list(artifact)],
      ["history", "history", list(message)],
      ["metadata"],
    ],
    kind("task"),
  );
  const statusUpdate = record([...ids, ["status", "status", status], ["metadata"]], {
    ...kind("status-update"),
    addOlder(older, { status }) {
      older["final"] = endsInteraction(status);
    },
  });
  const artifactUpdate = record(
    [...ids, ["artifact", "artifact", artifact], ["append"], ["lastChunk"], ["metadata"]],
    kind("artifact-update"),
  );
  const settings = record([["id"], ["url"], ["token"], ["authentication", "authentication", authentication]]);
  const configuration = record(
    [
      ["acceptedOutputModes"],
      ["historyLength"],
      ["taskPushNotificationConfig", isJson ? "pushNotificationConfig" : "pushNotification", settings],
      ["returnImmediately", "blocking", negation],
    ],
    {
      addOlder(older) {
        older["blocking"] ??= true;
        older["acceptedOutputModes"] ??= []; // it was required before 0.2.6
      },
      addCurrent(current) {
        // The servers of 0.3 wait unless they are told not to. In protobuf, not to is the default.
        current["returnImmediately"] ??= !isJson;
      },
    },
  );
  const pushConfig = nestConfig(settings, isJson);
  return {
    sendMessageRequest: record([
      ["message", "message", message],
      ["configuration", "configuration", configuration],
      ["metadata"],
    ]),
    getTaskRequest: record([isJson ? ["id"] : ["id", "name", taskName], ["historyLength"]]),
    taskRequest: record([isJson ? ["id"] : ["id", "name", taskName], ...rows(isJson, ["metadata"])]),
    pushConfig,
    createPushConfigRequest: isJson ? pushConfig : createRequest(pushConfig),
    nothing: isJson ? { ...same, toOlder: () => null } : same,
    pushConfigRequest: isJson
      ? record([
          ["taskId", "id"],
          ["id", "pushNotificationConfigId"],
        ])
      : configName,
    listPushConfigsRequest: record(
      isJson ? [["taskId", "id"]] : [["taskId", "parent", taskName], ["pageSize"], ["pageToken"]],
    ),
    listPushConfigsResponse: isJson
      ? bareList("configs", pushConfig)
      : record([["configs", "configs", list(pushConfig)], ["nextPageToken"]]),
    message,
    task,
    payload: payloadForm({ task, message, statusUpdate, artifactUpdate }, isJson),
    card: cardForm(isJson),
  };
}

/** How the ids begin that are given to messages without one. */
const generatedId = "unnamed-";

/** Whether a message came without an id, and has been given this one. */
export function isGeneratedId(messageId: string | undefined): boolean {
  return messageId?.startsWith(generatedId) === true;
}

/** Every state of a task, and its older name in JSON-RPC. */
const states: readonly (readonly [current: string, older: string])[] = [
  ["TASK_STATE_UNSPECIFIED", "unknown"],
  ["TASK_STATE_SUBMITTED", "submitted"],
  ["TASK_STATE_WORKING", "working"],
  ["TASK_STATE_COMPLETED", "completed"],
  ["TASK_STATE_FAILED", "failed"],
  ["TASK_STATE_CANCELED", "canceled"],
  ["TASK_STATE_INPUT_REQUIRED", "input-required"],
  ["TASK_STATE_REJECTED", "rejected"],
  ["TASK_STATE_AUTH_REQUIRED", "auth-required"],
];

/** The proto of 0.3 spells it with two L. */
function protoState(name: string): string {
  return name === "TASK_STATE_CANCELED" ? "TASK_STATE_CANCELLED" : name;
}

const finalStates = new Set(["COMPLETED", "FAILED", "CANCELED", "REJECTED", "INPUT_REQUIRED"]);

/** Whether no event follows a status until the caller says something: then it is `final`. */
function endsInteraction(status: unknown): boolean {
  const name = isObject(status) ? String(status["state"]) : "";
  return finalStates.has(name.replace("TASK_STATE_", ""));
}

/** These rows where the dialect has them. */
function rows(has: boolean, ...some: readonly Row[]): readonly Row[] {
  return has ? some : [];
}

/** Where one version says yes, the other says no. */
const negation: Form = {
  ...same,
  toOlder: (value) => value !== true,
  toCurrent: (value) => (typeof value === "boolean" ? !value : value),
};

/** One scheme in 1.0; a list before, of which a sender takes the first. */
const firstScheme: Form = {
  toOlder: (value) => [value],
  toCurrent(value, walk) {
    const [scheme] = Array.isArray(value) ? value : [];
    if (typeof scheme !== "string") {
      report(walk, "must begin with a string");
    }
    return scheme;
  },
  olderPath: (path) => path,
};

const authentication: Form = record([["scheme", "schemes", firstScheme], ["credentials"]]);

/** Ids are parts of resource names in protobuf: `tasks/{id}`. */
const taskName: Form = {
  toOlder: (value) => `tasks/${String(value)}`,
  toCurrent(value, walk) {
    const [, id] = typeof value === "string" ? (/^tasks\/([^/]+)$/.exec(value) ?? []) : [];
    if (id === undefined) {
      report(walk, "must be tasks/{id}");
    }
    return id;
  },
  olderPath: (path) => path,
};

/** `tasks/{id}/pushNotificationConfigs/{id}`, the name of one push config. */
const configName: Form = {
  toOlder: (value) => ({ name: formatConfigName(value as JsonObject) }), // a request is an object
  toCurrent(value, walk) {
    const named = isObject(value) ? parseConfigName(value["name"]) : undefined;
    if (named === undefined) {
      reportAt(walk, "name", "must be tasks/{id}/pushNotificationConfigs/{id}");
    }
    return named;
  },
  olderPath: () => ["name"],
};

function formatConfigName({ taskId, id }: JsonObject): string {
  return `tasks/${String(taskId ?? "")}/pushNotificationConfigs/${String(id ?? "")}`;
}

function parseConfigName(name: unknown): { readonly taskId: string; readonly id: string } | undefined {
  const [, taskId, id] =
    typeof name === "string" ? (/^tasks\/([^/]+)\/pushNotificationConfigs\/([^/]*)$/.exec(name) ?? []) : [];
  return taskId === undefined || id === undefined ? undefined : { taskId, id };
}

/**
 * A push config and its task: the config is a member of its own in older versions. One without an id has that of its task,
 * so that a second one replaces it.
 */
function nestConfig(settings: Form, isJson: boolean): Form {
  const member = "pushNotificationConfig";
  return {
    toOlder(value) {
      const config = value as JsonObject; // a message is an object
      const nested = { [member]: settings.toOlder(config) };
      return isJson
        ? { taskId: config["taskId"] ?? "", ...nested }
        : { name: formatConfigName(config), ...nested };
    },
    toCurrent(value, walk) {
      if (!isObject(value) || !isObject(value[member])) {
        reportMissing(walk, member);
        return undefined;
      }
      walk.path.push(member);
      const config = settings.toCurrent(value[member], walk) as Record<string, unknown> | undefined; // a record
      walk.path.pop();
      const taskId = isJson ? value["taskId"] : parseConfigName(value["name"])?.taskId;
      return { ...config, taskId, id: config?.["id"] || taskId };
    },
    olderPath: ([name = "", ...rest]) =>
      name === "taskId" ? [isJson ? "taskId" : "name"] : [member, ...settings.olderPath([name, ...rest])],
  };
}

/** In protobuf the task of a new push config, and its id, stand beside it. */
function createRequest(pushConfig: Form): Form {
  return {
    ...pushConfig,
    toOlder(value) {
      const { taskId, id } = value as JsonObject; // a message is an object
      return { parent: `tasks/${String(taskId)}`, configId: id ?? "", config: pushConfig.toOlder(value) };
    },
    toCurrent(value, walk) {
      const { parent, configId, config } = value as JsonObject; // the JSON of a message
      walk.path.push("parent");
      const taskId = taskName.toCurrent(parent, walk);
      walk.path.pop();
      walk.path.push("config");
      const current = pushConfig.toCurrent(config, walk) as JsonObject | undefined; // an object
      walk.path.pop();
      return { ...current, taskId, id: configId || current?.["id"] || taskId };
    },
    olderPath: (path) => (path[0] === "taskId" ? ["parent"] : ["config", ...pushConfig.olderPath(path)]),
  };
}

/** A list that is the whole answer, and a member of the answer in 1.0. */
function bareList(name: string, form: Form): Form {
  const elements = list(form);
  return {
    toOlder: (value) => elements.toOlder((value as JsonObject)[name] ?? []), // a message is an object
    toCurrent: (value, walk) => ({ [name]: elements.toCurrent(value, walk) }),
    olderPath: ([, ...rest]) => elements.olderPath(rest),
  };
}

const kinds = {
  task: "task",
  message: "message",
  "status-update": "statusUpdate",
  "artifact-update": "artifactUpdate",
} as const;

/** One of several messages: by its `kind` in JSON-RPC, by the name of its member in protobuf. */
function payloadForm(
  forms: Readonly<Record<(typeof kinds)[keyof typeof kinds], Form>>,
  isJson: boolean,
): Form {
  if (!isJson) {
    return record(Object.entries(forms).map(([name, form]) => [name, name, form]));
  }
  return {
    toOlder(value) {
      for (const name of Object.values(kinds)) {
        const member = (value as JsonObject)[name]; // a message is an object
        if (member !== undefined) {
          return forms[name].toOlder(member);
        }
      }
      return {};
    },
    toCurrent(value, walk) {
      const kind = isObject(value) ? (value["kind"] ?? guessKind(value)) : undefined;
      const name =
        typeof kind === "string" && Object.hasOwn(kinds, kind)
          ? kinds[kind as keyof typeof kinds]
          : undefined;
      if (name === undefined) {
        reportAt(walk, "kind", `must be one of ${Object.keys(kinds).join(", ")}`);
        return undefined;
      }
      return { [name]: forms[name].toCurrent(value, walk) };
    },
    olderPath: (path) => path, // it is an answer, about whose fields a caller is told nothing
  };
}

/** What an answer is that does not say it. */
function guessKind(value: Members): keyof typeof kinds | undefined {
  if (value["artifact"] !== undefined) {
    return "artifact-update";
  }
  if (value["status"] !== undefined) {
    return value["id"] === undefined ? "status-update" : "task";
  }
  return value["parts"] === undefined ? undefined : "message";
}
