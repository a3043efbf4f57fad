import type { ScenarioGroup } from "../scenario.ts";
import { browserScenarios } from "./browser.ts";
import { grpc } from "./grpc.ts";
import { pushNotifications } from "./push-notifications.ts";

/** Every scenario there is, by file. */
export const allScenarios: Readonly<Record<string, ScenarioGroup>> = {
  ...browserScenarios,
  grpc: grpc,
  "push-notifications": pushNotifications,
};
