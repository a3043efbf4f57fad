import { defineAgent, type LogRecord } from "@a2a-connect/server";
import { startAgentHarness } from "@a2a-connect/testing";
import type { Interceptor } from "@connectrpc/connect";
import { createRawCaller } from "../bad-input/raw-call.ts";
import { findProblem } from "../bad-input/target.ts";
import type { Entry } from "./entry.ts";
import { findFault } from "./find-fault.ts";
import { recorded } from "./recorded.ts";

/** A server to be called with anything. */
export interface FuzzedServer extends AsyncDisposable {
  readonly url: string;
  /** What is wrong with the answer to a request, or that there is none. */
  call(entry: Entry): Promise<string | undefined>;
  /** Sends a good message over one wire after the other. @returns why its answer is no success */
  echo(): Promise<string | undefined>;
  /** What the server does although no call waits for it, and what it told its operator. Empty when all is well. */
  findLeft(): Promise<readonly string[]>;
}

/** Good messages, over all wires. */
const echoes = recorded.filter(({ method }) => method.name === "SendMessage");

/** Longer than any answer takes on a busy machine. */
const hangMs = 30_000;

/** Serves an agent that repeats what it is told, and ends. */
export async function startFuzzedServer(): Promise<FuzzedServer> {
  const log: LogRecord[] = [];
  const executions = createGauge();
  const calls = createGauge();
  const agent = defineAgent({
    card: { name: "Echo", defaultInputModes: ["*/*"], defaultOutputModes: ["*/*"] },
    async *execute(turn) {
      using _ = executions.enter();
      yield turn.working("thinking");
      yield turn.artifact({ name: "echo", parts: turn.message.parts, metadata: turn.message.metadata ?? {} });
    },
  });
  const harness = await startAgentHarness({
    agent,
    push: true,
    extendedCard: { find: () => ({ name: "Echo, extended" }), open: true },
    randomId: countIds(),
    log: (record) => log.push(record),
    wires: { interceptors: [countCalls(calls)] },
  });
  const caller = createRawCaller(harness.url);
  let sent = 0;
  return {
    url: harness.url,
    async call(entry) {
      const answer = await withinTime(caller.call(entry.verb === "GET" ? withoutBody(entry) : entry));
      return "fault" in answer ? answer.fault : findFault(entry, answer.value);
    },
    async echo() {
      const good = echoes[sent++ % echoes.length];
      if (good === undefined) throw new Error("there is no good request");
      const answer = await withinTime(caller.call(good.make({ json: [], protobuf: [], compressed: false })));
      return "fault" in answer ? answer.fault : findProblem(good.wire, answer.value);
    },
    async findLeft() {
      const idle = await withinTime(Promise.all([executions.idle(), calls.idle()]));
      const left =
        "fault" in idle ? [`${executions.size} executions, ${calls.size} calls: ${idle.fault}`] : [];
      return [...left, ...log.map((record) => `${record.message}: ${record.error}`)];
    },
    async [Symbol.asyncDispose]() {
      caller[Symbol.dispose]();
      await harness[Symbol.asyncDispose]();
    },
  };
}

/** `id-1`, `id-2`, …: the recorded requests are about the first task, `id-1`, and its context, `id-2`. */
function countIds(): () => string {
  let ids = 0;
  return () => `id-${++ids}`;
}

function withoutBody({ body: _, ...request }: Entry) {
  return request;
}

/** The outcome of something that must end, with or without an error. */
export async function withinTime<Value>(
  outcome: Promise<Value>,
): Promise<{ readonly value: Value } | { readonly fault: string }> {
  const late = Promise.withResolvers<{ fault: string }>();
  const timer = setTimeout(() => late.resolve({ fault: `nothing came in ${hangMs} ms` }), hangMs);
  try {
    return await Promise.race([outcome.then((value) => ({ value })), late.promise]);
  } catch (error) {
    return { fault: String(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** Counts what has begun and not ended. */
interface Gauge {
  readonly size: number;
  /** Something begins; it ends when the result is disposed of. */
  enter(): Disposable;
  /** Resolves when all has ended. */
  idle(): Promise<void>;
}

function createGauge(): Gauge {
  let size = 0;
  let empty: PromiseWithResolvers<void> | undefined;
  return {
    get size() {
      return size;
    },
    enter() {
      size += 1;
      return {
        [Symbol.dispose]() {
          size -= 1;
          if (size === 0) empty?.resolve();
        },
      };
    },
    async idle() {
      empty = Promise.withResolvers();
      if (size > 0) await empty.promise;
    },
  };
}

/** Counts a call until its answer, or the last message of its stream, is there. */
function countCalls(calls: Gauge): Interceptor {
  return (next) => async (request) => {
    using stack = new DisposableStack();
    stack.use(calls.enter());
    const response = await next(request);
    if (!response.stream) return response;
    const untilEnd = stack.move();
    const counted = async function* <Message>(messages: AsyncIterable<Message>) {
      using _ = untilEnd;
      yield* messages;
    };
    return { ...response, message: counted(response.message) };
  };
}
