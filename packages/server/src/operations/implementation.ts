import { a2aError, methods, principalKey, type RpcMethod } from "@a2a-connect/core";
import { runtimeKey } from "@a2a-connect/core/internal";
import { A2AService } from "@a2a-connect/proto";
import type { DescMessage, Message, MessageInitShape } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createServiceImplSpec,
  type HandlerContext,
  type ServiceImpl,
  type ServiceImplSpec,
} from "@connectrpc/connect";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import type { Cards } from "../card/cards.ts";
import type { Clock } from "../engine/clock.ts";
import type { TaskEngine } from "../engine/task-engine.ts";
import { verifiedCallerKey } from "../gates/auth-gate.ts";
import type { Gate } from "../gates/protocol-gates.ts";
import type { RateLimiter } from "../gates/rate-limits.ts";
import type { PushSender } from "../push/push-sender.ts";
import type { TaskStore } from "../store/task-store.ts";
import type { AuditTrail } from "./audit.ts";
import { expiringStream } from "./expiring-stream.ts";
import { getTask } from "./get-task.ts";
import { lateStream } from "./late-stream.ts";
import { listTasks } from "./list-tasks.ts";
import { answerCounterOf, callerOf, type Operation, showTask } from "./operation.ts";
import { pass } from "./pass-gates.ts";
import { createPushConfig, deletePushConfig, getPushConfig, listPushConfigs } from "./push-config.ts";
import { sendMessage, sendStreamingMessage } from "./send-message.ts";
import { readLastEventId, streamTask } from "./stream-task.ts";

/** What the operations use. */
export interface OperationContext {
  readonly agent: AgentDefinition;
  readonly engine: TaskEngine;
  readonly store: TaskStore;
  readonly cards: Cards;
  /** Undefined: the push capability is off, and its gate refuses the four operations. */
  readonly push: PushSender | undefined;
  /** How long GetTask waits for a newer generation (requirement R-3). */
  readonly longPollMs: number;
  /** Bytes of a page of ListTasks. */
  readonly maxPageBytes: number;
  /** Gets a line for each call. Undefined: there is no audit. */
  readonly audit: AuditTrail | undefined;
  /** Refuses what callers do too often. Undefined: nothing. */
  readonly rates: RateLimiter | undefined;
  /** Ends streams whose credentials expire. Undefined: they go on. */
  readonly expiryClock: Pick<Clock, "now" | "schedule"> | undefined;
}

/** The one implementation that all wires call: every operation behind the gates. */
export function implementService(context: OperationContext, gates: readonly Gate[]): ServiceImplSpec {
  const { agent, engine, store, cards, push, longPollMs, maxPageBytes } = context;
  const operations: ServiceImpl<typeof A2AService> = {
    sendMessage: sendMessage(engine.sends, agent, push),
    sendStreamingMessage: sendStreamingMessage(engine.sends, agent, push),
    getTask: getTask(engine, longPollMs, context.rates),
    listTasks: listTasks(engine, maxPageBytes),
    cancelTask: cancelTask(engine),
    subscribeToTask: subscribeToTask(engine),
    createTaskPushNotificationConfig: createPushConfig(engine, push),
    getTaskPushNotificationConfig: getPushConfig(engine, store, push),
    listTaskPushNotificationConfigs: listPushConfigs(engine, store, push),
    deleteTaskPushNotificationConfig: deletePushConfig(engine, store, push),
    getExtendedAgentCard: getExtendedCard(cards),
  };
  const spec = createServiceImplSpec<typeof A2AService>(A2AService, operations);
  for (const method of Object.values(methods)) {
    const entry = spec.methods[method.localName];
    if (entry?.kind === "unary") {
      entry.impl = auditUnary(method, guardUnary(method, entry.impl, gates), context.audit);
    } else if (entry?.kind === "server_streaming") {
      entry.impl = auditStream(method, guardStream(method, entry.impl, gates, context), context.audit);
    }
  }
  return spec;
}

type UnaryImpl = (
  request: Message,
  context: HandlerContext,
) => Promise<MessageInitShape<DescMessage>> | MessageInitShape<DescMessage>;
type StreamImpl = (request: Message, context: HandlerContext) => AsyncIterable<MessageInitShape<DescMessage>>;

function auditUnary(method: RpcMethod, impl: UnaryImpl, audit: AuditTrail | undefined): UnaryImpl {
  if (audit === undefined) {
    return impl;
  }
  return async (request, context) => {
    const call = audit.begin(method, request, context);
    try {
      const answer = await impl(request, context);
      call.saw(answer);
      call.end();
      return answer;
    } catch (error) {
      call.end(error);
      throw error;
    }
  };
}

function auditStream(method: RpcMethod, impl: StreamImpl, audit: AuditTrail | undefined): StreamImpl {
  if (audit === undefined) {
    return impl;
  }
  return (request, context) =>
    lateStream((onEnd) => {
      const call = audit.begin(method, request, context);
      onEnd(call.end);
      return showEach(impl(request, context), call.saw);
    });
}

/** A stream whose events are shown to `see`. Not a generator, because a generator keeps the event that it has given last. */
function showEach<T>(stream: AsyncIterable<T>, see: (event: T) => void): AsyncIterable<T> {
  const events = stream[Symbol.asyncIterator]();
  const next = async () => {
    const step = await events.next();
    if (step.done !== true) see(step.value);
    return step;
  };
  const leave = async () => (await events.return?.()) ?? { done: true as const, value: undefined };
  return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
}

function guardUnary(method: RpcMethod, impl: UnaryImpl, gates: readonly Gate[]): UnaryImpl {
  return (request, context) => {
    const passing = pass({ method, request, context }, gates);
    return passing === undefined ? impl(request, context) : passing.then(() => impl(request, context));
  };
}

function guardStream(
  method: RpcMethod,
  impl: StreamImpl,
  gates: readonly Gate[],
  { expiryClock: clock, rates }: OperationContext,
): StreamImpl {
  const open: StreamImpl = (request, context) => {
    if (rates !== undefined) {
      return countedStream(rates, context, () => start(request, context));
    }
    return start(request, context);
  };
  const start: StreamImpl = (request, context) => {
    const { expiresAt } = context.values.get(verifiedCallerKey) ?? {};
    return clock === undefined || expiresAt === undefined
      ? impl(request, context)
      : expiringStream(context, expiresAt, clock, (expiring) => impl(request, expiring));
  };
  return (request, context) => {
    const passing = pass({ method, request, context }, gates);
    if (passing === undefined) return open(request, context);
    passing.catch(() => {}); // who reads the stream is told, and an interceptor may read it later or never
    return lateStream(async () => {
      await passing;
      return open(request, context);
    });
  };
}

function countedStream<T>(
  rates: RateLimiter,
  context: HandlerContext,
  open: () => AsyncIterable<T>,
): AsyncIterable<T> {
  return lateStream((onEnd) => {
    onEnd(rates.openStream(context));
    return open();
  });
}

/** CancelTask: ends a task that has not ended, and returns it (spec §3.1.5). */
function cancelTask(engine: TaskEngine): Operation<"cancelTask"> {
  return async ({ id, metadata }, context) =>
    showTask(
      await engine.cancel(callerOf(context), id, metadata, answerCounterOf(context)),
      context,
      undefined,
    );
}

/**
 * SubscribeToTask: the current task, or the events that a caller has missed, then every event until the task has ended
 * (spec §3.1.6; requirement A-36).
 */
function subscribeToTask(engine: TaskEngine): Operation<"subscribeToTask"> {
  return ({ id }, context) =>
    lateStream(async () =>
      streamTask(await engine.subscribe(callerOf(context), id, readLastEventId(context)), context),
    );
}

/** GetExtendedAgentCard: the card for a caller that has said who it is (spec §3.1.11), signed as the public one is. */
function getExtendedCard(cards: Cards): Operation<"getExtendedAgentCard"> {
  return async (_request, { values, signal }) => {
    const principal = values.get(principalKey);
    if (principal.anonymous && !cards.extendedCardIsOpen) {
      throw new ConnectError("the extended agent card needs credentials", Code.Unauthenticated);
    }
    const card = await cards.findExtended(principal, values.get(runtimeKey), signal);
    if (card === undefined) {
      throw a2aError("EXTENDED_AGENT_CARD_NOT_CONFIGURED", "there is no extended agent card");
    }
    return card;
  };
}
