import { Access } from "@a2a-connect/auth/internal";
import type { HttpHandler } from "@a2a-connect/bindings";
import { type BindingOptions, createOpenApi, type ErrorContext } from "@a2a-connect/bindings/server";
import {
  absentProtocolVersion,
  callUnawaited,
  dropUndefined,
  type ForwardedUrlSource,
  protocolVersion,
} from "@a2a-connect/core/internal";
import type { AgentCard } from "@a2a-connect/proto";
import type { ServiceImplSpec } from "@connectrpc/connect";
import { withCard } from "./agent/given-card.ts";
import type { Grant } from "./agent/grant.ts";
import { createSkillSwitches, type SkillSwitches } from "./agent/skill-switches.ts";
import type { Turn } from "./agent/turn.ts";
import type { AgentServerOptions } from "./agent-server-options.ts";
import { guardCallers } from "./caller-guard.ts";
import { createCatalogHandler } from "./card/ai-catalog.ts";
import { type AgentCards, Cards } from "./card/cards.ts";
import type { Mounts } from "./card/interfaces.ts";
import { createKeySetHandler } from "./card/key-set.ts";
import { createConsoleLog, type OperatorLog } from "./console-log.ts";
import { CallerBudgets } from "./engine/capacity/caller-budgets.ts";
import { systemClock } from "./engine/clock.ts";
import { defaultEngineLimits, type LogRecord, type StateChange } from "./engine/engine-context.ts";
import { defaultRetentionMs, Retention } from "./engine/retention.ts";
import { TaskEngine } from "./engine/task-engine.ts";
import { accessGate, authGate } from "./gates/auth-gate.ts";
import { type CallerNames, createCallerNames } from "./gates/caller-names.ts";
import {
  capabilityGate,
  extensionGate,
  fieldGate,
  type Gate,
  tenantGate,
  versionGate,
} from "./gates/protocol-gates.ts";
import { RateLimiter } from "./gates/rate-limits.ts";
import { isOfThisMachine, withInspector } from "./inspector-routes.ts";
import { type Audit, AuditTrail } from "./operations/audit.ts";
import { implementService } from "./operations/implementation.ts";
import { mountTaskNotes } from "./operations/task-notes.ts";
import { plainRoutes, resourceMetadataPath } from "./plain-routes.ts";
import { PushSender } from "./push/push-sender.ts";
import { createBaseUrls } from "./reach/base-urls.ts";
import { createRouter } from "./router.ts";
import { createMemoryTaskStore } from "./store/memory-task-store.ts";

/** One agent behind all wires, without sockets of its own: a listener calls `handle`. */
export interface AgentServer {
  /** Answers any HTTP request. */
  readonly handle: HttpHandler;
  /** The current public card, without its signatures. */
  readonly card: AgentCard;
  /** Changes the agent's definition, and how its cards are signed, while the server runs. */
  readonly cards: AgentCards;
  /** Switches skills off and on while the server runs: changes the card, its version and its ETag. */
  readonly skills: SkillSwitches;
  /** The service behind the gates, for wires of your own. */
  readonly service: ServiceImplSpec;
  /**
   * The paths that belong to no wire, such as `/.well-known/agent-card.json`, in case you mount them elsewhere, too.
   */
  readonly pages: ReadonlyMap<string, HttpHandler>;
  /** Whether it takes calls: until `drain`. */
  readonly ready: boolean;
  /** Whether it asks callers who they are (`auth`). */
  readonly isGated: boolean;
  /** Takes records for the operator's log. */
  readonly log: OperatorLog;
  /** Aborts when no executor runs any more: streams that are still open have nothing more to come. */
  readonly stopped: AbortSignal;
  /**
   * Recovers the unfinished tasks of an earlier process and sets timers. Call it before the first request; a second call only waits
   * for the first.
   *
   * After a failure the next call tries again.
   *
   * @throws Error (as a rejection) naming the key that cannot sign the card; ConnectError when the store cannot be read
   */
  start(): Promise<void>;
  /**
   * Signs the card, and reads from the store what a start reads: what `start` does first, before it touches a task. Call it for several
   * agents before you start one. After a failure the next call tries again.
   *
   * @throws Error (as a rejection) naming the key that cannot sign the card; ConnectError when the store cannot be read
   */
  prepare(): Promise<void>;
  /**
   * Continues a task that is AUTH_REQUIRED with what it was granted outside of its messages, such as in the callback of a
   * sign-in (spec §7.6). Its code gets the grant as `turn.grant`, or as `grant` of the answer of `task.askForAuth`. Resolves when
   * that is durable; a task takes one grant for each time that it asks. It rejects because of what callers do, too: catch that where
   * you call it, or it ends the process.
   *
   * @param task a task, or the `turn` or `task` that its code has: its id, tenant and principal
   * @throws TypeError (as a rejection) naming the member of the grant that is not valid
   * @throws ConnectError (as a rejection) TASK_NOT_FOUND; UNSUPPORTED_OPERATION when the task does not wait for credentials: it has
   *   ended, or has just got a message or another grant; CAPACITY when the server has no room for it, and Unavailable when its store
   *   fails: a later try may be taken
   */
  grant(task: Pick<Turn, "taskId" | "principal" | "tenant">, grant: Grant): Promise<void>;
  /** Sets the URL of the server, unless `publicUrl` is set: changes the card. No trailing slash. */
  moveTo(baseUrl: string): void;
  /** Reports from now on that the server is not ready; it still answers calls. */
  drain(): void;
  /** Lets running executors go on for `graceMs`, tells them to stop, and waits until their work is durable. */
  stop(graceMs: number): Promise<void>;
  /** Stops at once and closes the store. Call it when no request is left. */
  close(): Promise<void>;
}

/**
 * Puts an agent, a store and the wires together (docs/architecture.md, "The path of a call").
 *
 * @throws Error when an option contradicts another, such as a public URL that is none
 */
export function createAgentServer(options: AgentServerOptions): AgentServer {
  const {
    place,
    protocolVersions: offered = defaultVersions,
    longPollMs = 30_000,
    maxPageBytes = 4 * 2 ** 20,
    signedCardVersion = protocolVersion,
    clock = systemClock,
  } = options;
  const protocolVersions = offered.filter((version) => version !== absentProtocolVersion);
  const olderVersions = answersOlder(options);
  if (!protocolVersions.includes(protocolVersion) && (olderVersions || protocolVersions.length === 0)) {
    throw new Error(
      `protocolVersions must contain "${protocolVersion}", of which older versions are other forms`,
    );
  }
  const agent = withCard(options.agent, options.agent.card);
  const log = guardLog(options);
  const store = options.store ?? createMemoryTaskStore();
  const mounts: Mounts = { rpc: true, jsonRpc: "/rpc", httpJson: "/rest", ...options.mounts };
  const randomId = options.randomId ?? (() => createRisingId(clock.now()));
  const limits = { ...defaultEngineLimits, ...dropUndefined(options.limits ?? {}) };
  const skills = createSkillSwitches(agent, () => cards.change());
  const callerNames = createCallerNames(options.auth?.gates);
  const nameOwner = callerNames.ofOwner;
  const push =
    options.push &&
    new PushSender({ store, clock, log, limits, nameOwner, placesFor: place?.pushPlacesFor }, options.push);
  const audit = options.audit && new AuditTrail(guardAudit(options.audit, log), clock);
  const onState = audit && ((change: StateChange) => audit.noteState(change));
  const budgets = place?.budgetsFor?.(limits) ?? new CallerBudgets(limits, { clock, log });
  const isBounded = (options.limits?.maxRunning ?? agent.maxRunning) !== undefined; // by its operator or its author
  const engine = new TaskEngine({
    store,
    agent,
    skills,
    clock,
    randomId,
    limits,
    budgets,
    places: isBounded ? undefined : budgets.places.join(),
    nameOwner,
    log,
    onDeliveryDue: (task) => push?.wake(task),
    onState,
  });
  const forget = (before: number) => engine.forget(before);
  const retention = new Retention({ store, clock, log, forget }, options.retentionMs ?? defaultRetentionMs);

  const baseUrls = createBaseUrls({ ...options, log });
  const access = options.auth && new Access(options.auth);
  const cards = new Cards({
    agent,
    facts: {
      capabilities: {
        streaming: options.streaming ?? true,
        pushNotifications: push !== undefined,
        extendedAgentCard: options.extendedCard !== undefined,
      },
      mounts,
      protocolVersions,
      place,
      access,
    },
    baseUrls,
    extended: options.extendedCard,
    olderVersions,
    skills,
    engine,
    clock,
    log,
  });
  const resourceUrl = (reached: ForwardedUrlSource) =>
    baseUrls.find(reached, cards.signed) + (place?.path ?? "");
  const metadataUrl = (reached: ForwardedUrlSource) =>
    access?.hasIssuers === true ? resourceUrl(reached) + resourceMetadataPath : undefined;
  const expiryClock = access?.endsStreams === true ? clock : undefined;
  const rates = options.rateLimits && new RateLimiter(options.rateLimits, clock.ticks);
  const gates = createGates(options, { access, callerNames, metadataUrl, rates, cards, protocolVersions });
  const service = implementService(
    { agent, engine, store, cards, push, longPollMs, maxPageBytes, expiryClock, rates, audit },
    gates.calls,
  );

  let draining = false;
  let started: Promise<void> | undefined;
  let isClosed = false;
  const stopped = new AbortController();
  const { cardMaxAgeSeconds = 300 } = options;
  const wires: BindingOptions = {
    ...options.wires,
    olderVersions,
    onError: (error, context) => log(internalError(error, context)),
  };
  const plainPages = plainRoutes({
    cards,
    baseUrls,
    maxAgeSeconds: cardMaxAgeSeconds,
    keySetHandler: createKeySetHandler({
      agents: [cards],
      clock,
      maxAgeSeconds: cardMaxAgeSeconds,
    }),
    olderCardPath: olderVersions || options.olderCardPath === true,
    signedCardVersion: olderVersions ? signedCardVersion : undefined,
    catalogHandler:
      place === undefined
        ? createCatalogHandler({
            agents: [{ path: "", cards }],
            baseUrls,
            host: options.catalogHost,
            maxAgeSeconds: cardMaxAgeSeconds,
            clock,
          })
        : undefined,
    resource:
      access?.hasIssuers === true ? (reached) => access.describeResource(resourceUrl(reached)) : undefined,
    openApi: ({ name, version }, serverUrl) => createOpenApi({ title: name, version, serverUrl }),
    ready: () => !draining,
  });
  const plain = withInspector(plainPages, options.inspectorPage);
  const route = createRouter({
    service,
    // For one of several agents, the code that knows them all chooses the agent by tenant there.
    mounts: place === undefined ? mounts : { ...mounts, rpc: false },
    wires,
    plain,
    ...(options.inspectorPage === undefined
      ? {}
      : {
          notes: mountTaskNotes({ store, clock, gates: gates.notes, isOfThisMachine }, wires),
        }),
    serving: () => !draining,
    below: place?.path ?? "",
  });
  let signed: Promise<void> | undefined;
  const sign = (): Promise<void> => {
    signed ??= (options.signing ? cards.useSigning(options.signing) : Promise.resolve()).catch(
      (error: unknown) => {
        signed = undefined;
        throw error;
      },
    );
    return signed;
  };
  const prepare = async (): Promise<void> => {
    await sign();
    await engine.checkStore();
  };
  const start = async (): Promise<void> => {
    await prepare();
    await engine.start();
    retention.start();
    push?.wake();
  };
  return {
    handle:
      place === undefined
        ? guardCallers(route, { ...options, baseUrl: () => baseUrls.own, agents: [options] })
        : route,
    get card() {
      return cards.card;
    },
    cards,
    skills,
    service,
    pages: plain,
    get ready() {
      return !draining;
    },
    isGated: access !== undefined,
    log,
    stopped: stopped.signal,
    start() {
      started ??= start().catch((error: unknown) => {
        if (!isClosed) started = undefined; // where it is mounted, the next request tries again
        throw error;
      });
      return started;
    },
    prepare,
    grant: ({ taskId, principal, tenant }, grant) =>
      engine.grant({ owner: { principal, tenant }, taskId }, grant),
    moveTo: baseUrls.moveTo,
    drain: () => {
      draining = true;
    },
    async stop(graceMs) {
      await Promise.all([retention.close(), engine.close(graceMs)]);
      await push?.close(Math.min(graceMs, pushGraceMs));
      stopped.abort();
    },
    async close() {
      isClosed = true;
      started ??= Promise.reject(new Error("the server is closed"));
      started.catch(() => {}); // a later call tells
      try {
        await Promise.all([retention.close(), engine.close(0), push?.close(0)]);
      } finally {
        stopped.abort();
        await store.close();
      }
    },
  };
}

/**
 * What a call must pass, in this order: who calls, what the protocol demands of any call, and what this caller may reach.
 *
 * @returns `notes`: the same for the notes of tasks, which are no operation of the protocol
 */
function createGates(
  { assumeVersion, maxParts = 1_000, isTenant = () => true, place }: AgentServerOptions,
  parts: {
    readonly access: Access | undefined;
    readonly callerNames: CallerNames;
    readonly metadataUrl: Parameters<typeof authGate>[2];
    readonly rates: RateLimiter | undefined;
    readonly cards: Cards;
    readonly protocolVersions: readonly string[];
  },
): { readonly calls: readonly Gate[]; readonly notes: readonly Gate[] } {
  const { access, callerNames, metadataUrl, rates, cards, protocolVersions } = parts;
  const identity = [
    ...(rates === undefined ? [] : [rates.addressGate]),
    ...(access === undefined ? [] : [authGate(access, callerNames, metadataUrl)]),
    ...(rates === undefined ? [] : [rates.principalGate]),
  ];
  const protocol = [
    versionGate({ protocolVersions, assumeVersion }),
    extensionGate(() => cards.capabilities.extensions),
    capabilityGate(cards.capabilities),
    fieldGate(maxParts),
  ];
  const reach = [tenantGate(isTenant, place?.tenant), ...(access === undefined ? [] : [accessGate(access)])];
  return { calls: [...identity, ...protocol, ...reach], notes: [...identity, ...reach] };
}

const defaultVersions: readonly string[] = [protocolVersion, absentProtocolVersion];

/** Whether a server with these options answers callers of A2A 0.3. */
export function answersOlder({
  protocolVersions = defaultVersions,
}: Pick<AgentServerOptions, "protocolVersions">): boolean {
  return protocolVersions.includes(absentProtocolVersion);
}

/** The server sends to slower webhooks again after the next start; a stop does not wait for them. */
const pushGraceMs = 1_000;

/** An audit that cannot be written is said in the log, and does not end a task. */
function guardAudit(write: Audit, log: OperatorLog): Audit {
  return (record) =>
    callUnawaited(
      () => write(record),
      (error) => log({ level: "error", message: "a line of the audit could not be written", error }),
    );
}

/** The log of the options, else the console's. One that fails must end no task, and its failure cannot be logged. */
export function guardLog({ log, logLevel }: Pick<AgentServerOptions, "log" | "logLevel">): OperatorLog {
  const write = log ?? createConsoleLog({ level: logLevel });
  return (record) => callUnawaited(() => write(record));
}

/** The operator's record of an error that the caller sees as an internal one. */
export function internalError(error: unknown, { wire, method }: ErrorContext): LogRecord {
  return { level: "error", message: `${method ?? "a call"} over ${wire} failed inside`, error };
}

/**
 * A UUID of version 7: its first twelve digits are the time, the others are random. Ids that rise with time lie beside
 * each other in a database's indexes, so that a group of new tasks changes few of its pages.
 */
function createRisingId(now: number): string {
  if (now !== prefixed.now) {
    const time = Math.max(0, Math.trunc(now)).toString(16).padStart(12, "0").slice(-12);
    prefixed = { now, prefix: `${time.slice(0, 8)}-${time.slice(8)}-7` };
  }
  return prefixed.prefix + crypto.randomUUID().slice(15);
}

/** The beginning of the newest id: many are made in a millisecond. */
let prefixed = { now: Number.NaN, prefix: "" };
