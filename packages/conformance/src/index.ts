import { nodePlatform } from "./node-platform.ts";
import { createKit, type Kit } from "./run/run-conformance.ts";
import type { ScenarioGroup } from "./scenario.ts";
import { browserScenarios } from "./scenarios/browser.ts";
import { grpc } from "./scenarios/grpc.ts";
import { pushNotifications } from "./scenarios/push-notifications.ts";

export { type CardFact, type CardJson, findCardFacts } from "./card-facts.ts";
export { type Defect, findDefects, isOlderMember, maxDefects } from "./closed-schema.ts";

export { type Exchange, formatExchanges } from "./exchange.ts";
export { type TlsSettings, type Wire, wires } from "./platform.ts";
export {
  accept,
  answer,
  cut,
  cutBody,
  hang,
  type RawRequest,
  type Receiver,
  type Reply,
  startReceiver,
} from "./receiver.ts";
export { renderBadge } from "./report/badge.ts";
export { type Cause, createCauseMemory } from "./report/causes.ts";
export { type PageOptions, renderPage } from "./report/html.ts";
export { renderJunit } from "./report/junit.ts";
export {
  type ConformanceReport,
  createReport,
  type Failure,
  placesInOrder,
  type RequirementRow,
  reportToJson,
  resultToJson,
  type Tally,
  type Verdict,
  verdictOf,
} from "./report/report.ts";
export {
  getRequirement,
  isBinding,
  type Place,
  type Requirement,
  requirementGroups,
  requirements,
  type SpecVersion,
} from "./requirements.ts";
export { type KnownAgent, whyNotApplicable } from "./run/applies.ts";
export type { Dialect, DialectSign } from "./run/dialect.ts";
export {
  type Outcome,
  type Result,
  type Weight,
  weightOfScenario,
} from "./run/result.ts";
export type { ConformanceOptions, ConformanceRun } from "./run/run-conformance.ts";
export { type RunOptions, runScenario } from "./run-scenario.ts";
export {
  type NeededAgent,
  NotApplicable,
  type Scenario,
  type ScenarioGroup,
  type ScenarioOptions,
  type Stage,
  scenarios,
} from "./scenario.ts";
export type { ServerName } from "./server-name.ts";
export {
  CannotExamine,
  type FindOptions,
  type FoundServer,
  type Target,
} from "./target.ts";

/** Every scenario there is, by file. */
export const allScenarios: Readonly<Record<string, ScenarioGroup>> = {
  ...browserScenarios,
  grpc: grpc,
  "push-notifications": pushNotifications,
};

const kit: Kit = createKit(nodePlatform, allScenarios);

/** See `Kit`. */
export const findServer: Kit["findServer"] = kit.findServer;

/** See `Kit`. */
export const runConformance: Kit["runConformance"] = kit.runConformance;
