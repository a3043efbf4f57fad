import type { ScenarioGroup } from "../scenario.ts";
import { agentCard } from "./agent-card.ts";
import { answerShapes } from "./answer-shapes.ts";
import { cancelTask } from "./cancel-task.ts";
import { capabilities } from "./capabilities.ts";
import { cardSigning } from "./card-signing.ts";
import { credentials } from "./credentials.ts";
import { errorTable } from "./error-table.ts";
import { errors } from "./errors.ts";
import { extendedCard } from "./extended-card.ts";
import { extensions } from "./extensions.ts";
import { generations } from "./generations.ts";
import { getTask } from "./get-task.ts";
import { history } from "./history.ts";
import { httpJson } from "./http-json.ts";
import { ids } from "./ids.ts";
import { jsonRules } from "./json.ts";
import { jsonRpc } from "./json-rpc.ts";
import { listTasks } from "./list-tasks.ts";
import { oneTask } from "./one-task.ts";
import { pushConfigs } from "./push-configs.ts";
import { races } from "./races.ts";
import { resume } from "./resume.ts";
import { robustness } from "./robustness.ts";
import { sendMessage } from "./send-message.ts";
import { sendStreamingMessage } from "./send-streaming-message.ts";
import { subscribeToTask } from "./subscribe-to-task.ts";
import { taskStates } from "./task-states.ts";
import { versions } from "./versions.ts";

/** The scenarios that a page can run: it cannot speak gRPC, and no webhook reaches it. */
export const browserScenarios: Readonly<Record<string, ScenarioGroup>> = {
  "send-message": sendMessage,
  "send-streaming-message": sendStreamingMessage,
  "get-task": getTask,
  "cancel-task": cancelTask,
  "subscribe-to-task": subscribeToTask,
  resume: resume,
  "list-tasks": listTasks,
  "push-configs": pushConfigs,
  "extended-card": extendedCard,
  capabilities: capabilities,
  "task-states": taskStates,
  history: history,
  ids: ids,
  errors: errors,
  "error-table": errorTable,
  versions: versions,
  extensions: extensions,
  json: jsonRules,
  "answer-shapes": answerShapes,
  "json-rpc": jsonRpc,
  "http-json": httpJson,
  "agent-card": agentCard,
  "card-signing": cardSigning,
  credentials: credentials,
  "one-task": oneTask,
  races: races,
  robustness: robustness,
  generations: generations,
};
