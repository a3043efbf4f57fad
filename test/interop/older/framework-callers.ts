// Frameworks that embed the JavaScript SDK 0.3, as they are on npm. What is used of each is declared here, because they are not
// installed where types are checked.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { frameworks } from "../peers/languages.ts";
import { type OlderCaller, withoutRepetitions } from "./scenarios.ts";

const everyRun = "it has no such call: every run begins with the card";

const load = createRequire(join(frameworks.folder, "package.json"));

interface Adk {
  readonly RemoteA2AAgent: new (options: object) => { readonly name: string };
  readonly InMemoryRunner: new (
    options: object,
  ) => {
    readonly sessionService: { createSession(options: object): Promise<{ readonly id: string }> };
    runAsync(options: object): AsyncIterable<AdkEvent>;
  };
  setLogLevel(level: number): void;
}

interface AdkEvent {
  readonly content?: { readonly parts?: readonly { readonly text?: string }[] };
  readonly errorMessage?: string;
  readonly customMetadata?: { readonly "a2a:response"?: string };
}

interface OlderSdk {
  readonly ClientFactory: new (options: object) => object;
  readonly ClientFactoryOptions: {
    readonly default: object;
    createFrom(options: object, overrides: object): object;
  };
}

/** `RemoteA2AAgent` of Google's ADK. */
export function createAdkCaller(): OlderCaller {
  const { RemoteA2AAgent, InMemoryRunner, setLogLevel }: Adk = load("@google/adk");
  const { ClientFactory, ClientFactoryOptions }: OlderSdk = load("@a2a-js/sdk/client");
  setLogLevel(3);
  const noCall = "a remote agent is run; it has no such call";
  return {
    bindings: ["JSONRPC", "HTTP+JSON"],
    without: {
      discover: everyRun,
      GRPC: "its client factory has no gRPC by default",
      question: "it shows the question, and sends the answer in the same context without the task's id",
      cancel: noCall,
      resubscribe: noCall,
    },
    open(agentCard, preferred) {
      const run = async (text: string, messageSendConfig?: object) => {
        const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
          preferredTransports: [preferred],
        });
        const clientFactory = new ClientFactory(options);
        const agent = new RemoteA2AAgent({ name: "remote", agentCard, clientFactory, messageSendConfig });
        const runner = new InMemoryRunner({ agent, appName: "test" });
        const { id: sessionId } = await runner.sessionService.createSession({ appName: "test", userId: "u" });
        const newMessage = { role: "user", parts: [{ text }] };
        const events = await Array.fromAsync(runner.runAsync({ userId: "u", sessionId, newMessage }));
        const texts = events.map(({ content }) =>
          (content?.parts ?? []).map((part) => part.text ?? "").join(""),
        );
        return {
          // It tells no state: a task that failed is an error.
          state: events.find(({ errorMessage }) => errorMessage !== undefined)?.errorMessage ?? "completed",
          text: withoutRepetitions(texts.join("")),
          chunks: texts.filter((each) => each !== "").length,
        };
      };
      const outcome = async (running: ReturnType<typeof run>) => {
        const { state, text } = await running;
        return { state, text };
      };
      return {
        send: () => outcome(run("task hello")),
        stream: () => run("stream 3 20"),
        push: (url) => outcome(run("task hello", { pushNotificationConfig: { url, token: "the-token" } })),
      };
    },
    async [Symbol.asyncDispose]() {},
  };
}

interface AiProvider {
  a2a(url: string): object;
}

interface AiSdk {
  generateText(options: object): Promise<{ readonly text: string; readonly finishReason: string }>;
  streamText(options: object): {
    readonly fullStream: AsyncIterable<{ readonly type: string; readonly text?: string }>;
    readonly finishReason: PromiseLike<string>;
  };
}

/** `a2a-ai-provider`: an agent as a language model of the AI SDK. */
export async function loadAiSdkCaller(): Promise<OlderCaller> {
  const provider = join(frameworks.folder, "node_modules/a2a-ai-provider/dist/index.js"); // it cannot be required
  const { a2a }: AiProvider = await import(pathToFileURL(provider).href);
  const { generateText, streamText }: AiSdk = load("ai");
  const noCall = "a language model has no such call";
  return {
    bindings: ["JSONRPC"],
    without: {
      discover: everyRun,
      "HTTP+JSON": "it uses the SDK's client for JSON-RPC",
      GRPC: "it uses the SDK's client for JSON-RPC",
      question: "it shows the question, and sends the answer in the same context without the task's id",
      cancel: noCall,
      resubscribe: noCall,
      push: noCall,
    },
    open(agent) {
      const model = a2a(`${agent}/.well-known/agent-card.json`);
      const state = (reason: string) => (reason === "stop" ? "completed" : reason);
      return {
        async send() {
          const { text, finishReason } = await generateText({ model, prompt: "task hello" });
          return { state: state(finishReason), text };
        },
        async stream() {
          const streamed = streamText({ model, prompt: "stream 3 20" });
          const parts = await Array.fromAsync(streamed.fullStream);
          const texts = parts.flatMap(({ type, text = "" }) => (type === "text-delta" ? [text] : []));
          return {
            state: state(await streamed.finishReason),
            text: withoutRepetitions(texts.join("")),
            chunks: texts.length,
          };
        },
      };
    },
    async [Symbol.asyncDispose]() {},
  };
}
