import { a2aError } from "@a2a-connect/core";
import { accepting, answering, asking } from "./faulty-calls.ts";
import type { Mutant } from "./mutant.ts";

/** Changes the header of what webhooks get. */
function posting(change: (header: Headers) => void): NonNullable<Mutant["post"]> {
  return (init) => {
    const headers = new Headers(init.headers);
    change(headers);
    return { ...init, headers };
  };
}

/** What a server may do wrong with webhooks. */
export const pushMutants: readonly Mutant[] = [
  {
    name: "has webhooks that its card does not declare",
    ids: "A-50",
    place: "grpc",
    server: "no-push",
    says: /refuses all four operations.*the call was answered/,
    calls: accepting("listTaskPushNotificationConfigs", "PUSH_NOTIFICATION_NOT_SUPPORTED", () => ({})),
  },
  {
    name: "gives no id to a webhook without one",
    ids: "A-51",
    place: "grpc",
    says: /with the caller's id or a new one/,
    calls: answering(["createTaskPushNotificationConfig"], (config, { id }) => {
      config.id = id;
    }),
  },
  {
    name: "gives webhooks ids of its own",
    ids: "A-51",
    place: "connect",
    says: /with the caller's id or a new one/,
    calls: asking(["createTaskPushNotificationConfig"], (config) => {
      config.id = "";
    }),
  },
  {
    name: "loses webhooks",
    ids: "A-55",
    place: "grpc",
    says: /lists all webhooks of a task/,
    calls: answering(["listTaskPushNotificationConfigs"], (list) => {
      list.configs = list.configs.slice(-1);
    }),
  },
  {
    name: "keeps one webhook of an id for all tasks",
    ids: "A-53",
    place: "grpc",
    says: /tells webhooks of the same id apart by their tasks/,
    calls: (() => {
      const urls = new Map<string, string>();
      return (next) => async (call) => {
        const response = await next(call);
        if (call.method.localName === "createTaskPushNotificationConfig" && !response.stream) {
          const { id, url } = response.message as { id?: string; url?: string };
          urls.set(id ?? "", url ?? "");
        }
        if (call.method.localName !== "listTaskPushNotificationConfigs" || response.stream) return response;
        const { configs } = response.message as { configs?: { id: string; url: string }[] };
        const shared = configs?.map((config) => ({ ...config, url: urls.get(config.id) ?? config.url }));
        return { ...response, message: { ...response.message, configs: shared } } as typeof response;
      };
    })(),
  },
  {
    name: "answers with an empty webhook where there is none",
    ids: "A-54",
    place: "grpc",
    says: /fails to get a webhook that is not there: the call was answered/,
    calls: accepting("getTaskPushNotificationConfig", "TASK_NOT_FOUND", ({ taskId, id }) => ({ taskId, id })),
  },
  {
    name: "does not delete webhooks",
    ids: "A-56",
    place: "connect",
    says: /deletes a webhook for good/,
    calls: asking(["deleteTaskPushNotificationConfig"], (request) => {
      request.id = `${request.id}-other`;
    }),
  },
  {
    name: "refuses webhooks for a task that has ended",
    ids: "A-52",
    place: "grpc",
    says: /also for a task that has ended.*the task has ended/,
    calls: asking(["createTaskPushNotificationConfig"], () => {
      throw a2aError("UNSUPPORTED_OPERATION", "the task has ended");
    }),
  },
  {
    name: "does not register the webhook that comes with a send",
    ids: "A-14",
    place: "grpc",
    says: /the webhook was told 0 events/,
    calls: asking(["sendMessage"], ({ configuration }) => {
      delete configuration?.taskPushNotificationConfig;
    }),
  },
  {
    name: "does not tell webhooks how a task ends",
    ids: "N-4",
    place: "grpc",
    says: /the webhook was told \d+ events, but not how the task ended/,
    post: (init) => (/"TASK_STATE_COMPLETED"/.test(bodyOf(init)) ? undefined : init),
  },
  {
    name: "sends tasks to webhooks, as 0.3 does, and not events",
    ids: "N-1",
    place: "grpc",
    says: /webhook of a hello/,
    post: (init) => {
      const { task } = JSON.parse(bodyOf(init));
      return task === undefined ? init : { ...init, body: JSON.stringify({ ...task, kind: "task" }) };
    },
  },
  {
    name: "sends text/plain to webhooks",
    ids: "N-1",
    place: "grpc",
    says: /as application\/a2a\+json.*text\/plain/,
    post: posting((header) => header.set("content-type", "text/plain")),
  },
  {
    name: "sends webhooks no credentials",
    ids: "N-2",
    place: "grpc",
    says: /sends the webhook of a hello its credentials/,
    post: posting((header) => header.delete("authorization")),
  },
  {
    name: "sends webhooks no token",
    ids: "N-3",
    place: "connect",
    says: /sends the webhook of a hello its token/,
    post: posting((header) => header.delete("x-a2a-notification-token")),
  },
];

function bodyOf({ body }: RequestInit): string {
  return typeof body === "string" ? body : Buffer.from(body as Uint8Array).toString("utf8"); // small ones come whole
}
