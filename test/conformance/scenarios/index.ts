import type { ScenarioGroup } from "../scenario.ts";
import { errors } from "./errors.ts";
import { extendedCard } from "./extended-card.ts";
import { history } from "./history.ts";
import { ids } from "./ids.ts";
import { listTasks } from "./list-tasks.ts";
import { pushConfigs } from "./push-configs.ts";
import { sendMessage } from "./send-message.ts";
import { sendStreamingMessage } from "./send-streaming-message.ts";
import { taskOperations } from "./task-operations.ts";
import { taskStates } from "./task-states.ts";

/** Every scenario there is, in the order of the requirements. */
export const allScenarios: readonly ScenarioGroup[] = [
  sendMessage,
  sendStreamingMessage,
  taskOperations,
  listTasks,
  pushConfigs,
  extendedCard,
  taskStates,
  history,
  ids,
  errors,
];
