import { type BindingOptions, createOpenApi, type HttpHandler, withCors } from "@a2a-connect/bindings";
import type { AgentCard } from "@a2a-connect/proto";
import type { ServiceImplSpec } from "@connectrpc/connect";
import { createSkillSwitches, type SkillSwitches } from "./agent/skill-switches.ts";
import type { AgentServerOptions } from "./agent-server-options.ts";
import { createCardHandler } from "./card/card-handler.ts";
import { CardSource } from "./card/card-source.ts";
import { deriveExtensions } from "./card/derive-card.ts";
import { deriveInterfaces, type Mounts } from "./card/interfaces.ts";
import { systemClock } from "./engine/clock.ts";
import { defaultEngineLimits, type LogRecord } from "./engine/engine-context.ts";
import { defaultRetentionMs, Retention } from "./engine/retention.ts";
import { TaskEngine } from "./engine/task-engine.ts";
import { capabilityGate } from "./gates/capability-gate.ts";
import { extensionGate } from "./gates/extension-gate.ts";
import { fieldGate } from "./gates/field-gate.ts";
import type { Gate } from "./gates/gate.ts";
import { tenantGate } from "./gates/tenant-gate.ts";
import { versionGate } from "./gates/version-gate.ts";
import { implementService } from "./operations/implementation.ts";
import { plainRoutes } from "./plain-routes.ts";
import { PushSender } from "./push/push-sender.ts";
import { createRouter } from "./router.ts";
import { createMemoryTaskStore } from "./store/memory-task-store.ts";

/** One agent behind all wires, without sockets of its own: `handle` is what a listener calls. */
export interface AgentServer {
  /** Answers any HTTP request. */
  readonly handle: HttpHandler;
  /** The public card as it is now. */
  readonly card: AgentCard;
  /** Switches skills off and on while the server runs: changes the card, its version and its ETag. */
  readonly skills: SkillSwitches;
  /** The service behind the gates, for wires of one's own. */
  readonly service: ServiceImplSpec;
  /** Recovers what a crash left behind and sets timers. Call it before the first request. */
  start(): Promise<void>;
  /** Says where the server is reached, unless `publicUrl` does: changes the card. No trailing slash. */
  moveTo(baseUrl: string): void;
  /** Refuses readiness from now on; calls are still answered. */
  drain(): void;
  /** Lets running executors go on for `graceMs`, tells them to stop, and waits until what they did is durable. */
  stop(graceMs: number): Promise<void>;
  /** Stops at once and closes the store: call it when no request is left. */
  close(): Promise<void>;
}

/**
 * Puts an agent, a store and the wires together (docs/architecture.md, "One call through the house").
 *
 * @throws Error when an option contradicts another, such as a public URL that is none
 */
export function createAgentServer(options: AgentServerOptions): AgentServer {
  const { agent, protocolVersions = ["1.0"], longPollMs = 30_000, clock = systemClock } = options;
  const log = guardLog(options.log);
  const store = options.store ?? createMemoryTaskStore();
  const mounts: Mounts = { rpc: true, jsonRpc: "/rpc", httpJson: "/rest", ...options.mounts };
  const randomId = options.randomId ?? (() => crypto.randomUUID());
  const limits = { ...defaultEngineLimits, ...options.limits };
  const skills = createSkillSwitches(agent, () => cards.disableSkills(skills.disabled));
  const push = options.push && new PushSender({ store, clock, log }, options.push);
  const onDeliveryDue = () => push?.wake();
  const engine = new TaskEngine({ store, agent, skills, clock, randomId, limits, log, onDeliveryDue });
  const forget = (before: number) => engine.forget(before);
  const retention = new Retention({ store, clock, log, forget }, options.retentionMs ?? defaultRetentionMs);

  const interfacesAt = (baseUrl: string) =>
    deriveInterfaces(baseUrl.replace(/\/+$/, ""), mounts, protocolVersions);
  const served = {
    streaming: options.streaming ?? true,
    pushNotifications: push !== undefined,
    extendedAgentCard: options.extendedCard !== undefined,
  };
  const publicUrl = options.publicUrl ?? "http://localhost";
  assertPublicUrl(publicUrl);
  const cards = new CardSource(agent, served, interfacesAt(publicUrl), options.extendedCard);
  const gates: Gate[] = [
    versionGate({ protocolVersions, assumeVersion: options.assumeVersion }),
    extensionGate(deriveExtensions(agent)),
    capabilityGate(cards.capabilities),
    fieldGate(options.maxParts ?? 1_000),
    tenantGate(options.isTenant ?? (() => true)),
  ];
  const service = implementService({ agent, engine, store, cards, push, longPollMs }, gates);

  let draining = false;
  const wires: BindingOptions = {
    ...options.wires,
    onError: (error, { wire, method }) => log(internalError(error, wire, method)),
  };
  const plain = plainRoutes({
    cards,
    cardHandler: createCardHandler(cards, clock, options.cardMaxAgeSeconds ?? 300),
    openApi: (serverUrl) => createOpenApi({ title: agent.card.name, version: cards.card.version, serverUrl }),
    ready: () => !draining,
  });
  const route = createRouter({ service, mounts, wires, plain, serving: () => !draining });
  return {
    handle: options.cors === false ? route : withCors(route, options.cors),
    get card() {
      return cards.card;
    },
    skills,
    service,
    async start() {
      await engine.start();
      retention.start();
      push?.wake();
    },
    moveTo: (baseUrl) => {
      if (options.publicUrl === undefined) {
        cards.moveTo(interfacesAt(baseUrl));
      }
    },
    drain: () => {
      draining = true;
    },
    async stop(graceMs) {
      await Promise.all([retention.close(), engine.close(graceMs)]);
      await push?.close(Math.min(graceMs, pushGraceMs));
    },
    async close() {
      try {
        await Promise.all([retention.close(), engine.close(0), push?.close(0)]);
      } finally {
        await store.close();
      }
    },
  };
}

/** Webhooks that take longer are told again after the next start; a stop does not wait for them. */
const pushGraceMs = 1_000;

/** The URLs in the card are this one with paths behind it, and everybody reads them. */
function assertPublicUrl(publicUrl: string): void {
  const url = URL.parse(publicUrl);
  const fits =
    url !== null &&
    ["http:", "https:"].includes(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === "");
  if (!fits) {
    throw new Error(
      `the public URL is http or https, without user, query or fragment: https://agents.example.org, not "${publicUrl}"`,
    );
  }
}

/** A log that fails must not take a task with it. */
function guardLog(log: (record: LogRecord) => void = () => {}): (record: LogRecord) => void {
  return (record) => {
    try {
      log(record);
    } catch {
      // There is nowhere left to say it.
    }
  };
}

function internalError(error: unknown, wire: string, method: string | undefined): LogRecord {
  return { level: "error", message: `${method ?? "a call"} over ${wire} failed inside`, error };
}
