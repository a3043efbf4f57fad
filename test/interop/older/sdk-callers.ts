// The official SDKs of A2A 0.3, in JavaScript and Python.
import { randomUUID } from "node:crypto";
import type {
  Message,
  MessageSendParams,
  Part,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from "@a2a-js/sdk-0.3";
import {
  type Client,
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk-0.3/client";
import { GrpcTransportFactory } from "@a2a-js/sdk-0.3/client/grpc";
import type { Binding } from "../peers/caller.ts";
import { olderPython } from "../peers/languages.ts";
import { startPeer } from "../peers/peer-process.ts";
import {
  type OlderCaller,
  type Outcome,
  outcomes,
  type ScenarioName,
  type Scenarios,
  withoutRepetitions,
} from "./scenarios.ts";

type Event = Message | Task | TaskStatusUpdateEvent | TaskArtifactUpdateEvent;

const bindings: readonly Binding[] = ["JSONRPC", "HTTP+JSON", "GRPC"];

/** The client of `@a2a-js/sdk` 0.3. */
export function createJavaScriptCaller(): OlderCaller {
  const transports = {
    JSONRPC: new JsonRpcTransportFactory(),
    "HTTP+JSON": new RestTransportFactory(),
    GRPC: new GrpcTransportFactory(),
  };
  return {
    bindings,
    without: {},
    open: (agent, binding) =>
      scenariosOf(
        new ClientFactory({
          transports: [transports[binding]],
          preferredTransports: [binding],
        }).createFromUrl(agent),
      ),
    async [Symbol.asyncDispose]() {},
  };
}

function scenariosOf(opening: Promise<Client>): Scenarios {
  opening.catch(() => {}); // each scenario awaits it
  return {
    async discover() {
      const { name } = await (await opening).getAgentCard();
      return { name };
    },
    async send() {
      return outcomeOf((await (await opening).sendMessage(sending("task hello"))) as Task); // this command makes a task
    },
    async stream() {
      const events = await Array.fromAsync((await opening).sendMessageStream(sending("stream 3 20")));
      return {
        ...outcomeOfEvents(events),
        chunks: events.filter(({ kind }) => kind === "artifact-update").length,
      };
    },
    async question() {
      const client = await opening;
      const events = await Array.fromAsync(client.sendMessageStream(sending("ask What?")));
      const asked = events.findLast((event) => event.kind === "status-update");
      const answer = sending("Ada", asked === undefined ? {} : { taskId: asked.taskId });
      const answered = (await client.sendMessage(answer)) as Task; // the same task
      return {
        asked: asked?.status.state ?? "",
        question: textOf(asked?.status.message?.parts),
        ...outcomeOf(answered),
      };
    },
    async cancel() {
      const client = await opening;
      const params = { ...sending("sleep 3600000"), configuration: { blocking: false } };
      const { id } = (await client.sendMessage(params)) as Task; // this command makes a task
      return outcomeOf(await client.cancelTask({ id }));
    },
    async resubscribe() {
      const client = await opening;
      const cut = new AbortController();
      let id = "";
      const reading = (async () => {
        for await (const event of client.sendMessageStream(sending("stream 5 300"), { signal: cut.signal })) {
          if (event.kind === "artifact-update") {
            id = event.taskId;
            cut.abort();
          }
        }
      })();
      await reading.catch(() => {}); // it was cut
      return outcomeOfEvents(await Array.fromAsync(client.resubscribeTask({ id })));
    },
    async push(url) {
      const configuration = { pushNotificationConfig: { url, token: "the-token" } };
      const sent = await (await opening).sendMessage({ ...sending("task hello"), configuration });
      return outcomeOf(sent as Task); // this command makes a task
    },
  };
}

function sending(text: string, more: Partial<Message> = {}): MessageSendParams {
  const parts: Part[] = [{ kind: "text", text }];
  return { message: { kind: "message", messageId: randomUUID(), role: "user", parts, ...more } };
}

function outcomeOf({ status, artifacts = [] }: Task): Outcome {
  return {
    state: status.state,
    text: withoutRepetitions(artifacts.map(({ parts }) => textOf(parts)).join("")),
  };
}

function outcomeOfEvents(events: readonly Event[]): Outcome {
  const last = events.findLast((event) => event.kind === "task" || event.kind === "status-update");
  const texts = events.map((event) => {
    if (event.kind === "artifact-update") return textOf(event.artifact.parts);
    return event.kind === "task" ? (event.artifacts ?? []).map(({ parts }) => textOf(parts)).join("") : "";
  });
  return { state: last?.status.state ?? "", text: withoutRepetitions(texts.join("")) };
}

function textOf(parts: readonly Part[] = []): string {
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

/** The client of `a2a-sdk` 0.3, in a process of its own. */
export async function startPythonCaller(): Promise<OlderCaller> {
  const peer = await startPeer(olderPython.peer, "");
  return {
    bindings,
    without: {},
    open(agent, binding) {
      const run = async (method: string, webhook = "") => {
        const order = { binding, method, request: { webhook } };
        const [answer] = await Array.fromAsync(peer.call({ url: agent, authority: "" }, order));
        return {
          ...answer,
          ...(typeof answer?.["text"] === "string" && { text: withoutRepetitions(answer["text"]) }),
        };
      };
      const names = Object.keys(outcomes) as ScenarioName[]; // the keys of the table
      return Object.fromEntries(
        names.map((name) => [name, (webhook?: string) => run(name, webhook)]),
      ) as unknown as Scenarios; // the caller answers in these forms, which the test compares
    },
    [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose](),
  };
}
