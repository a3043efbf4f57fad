import { cardTrust } from "./card-trust.ts";
import type { ClientScenarioGroup } from "./client-scenario.ts";
import { everyRequest } from "./every-request.ts";
import { generations } from "./generations.ts";
import { findingTheWay } from "./interfaces.ts";
import { json } from "./json.ts";
import { keptCard } from "./kept-card.ts";
import { streams } from "./streams.ts";
import { tasks } from "./tasks.ts";
import { tls } from "./tls.ts";
import { webhooks } from "./webhooks.ts";

/** Every scenario of the client there is, by file. */
export const allClientScenarios: Readonly<Record<string, ClientScenarioGroup>> = {
  "every-request": everyRequest,
  interfaces: findingTheWay,
  "kept-card": keptCard,
  "card-trust": cardTrust,
  streams,
  tasks,
  json,
  webhooks,
  tls,
  generations,
};
