import type { Scenario } from "../scenario.ts";
import { burst } from "./burst.ts";
import { cards } from "./cards.ts";
import { client } from "./client.ts";
import { fanout } from "./fanout.ts";
import { gate } from "./gate.ts";
import { growth } from "./growth.ts";
import { hostile } from "./hostile.ts";
import { inspector } from "./inspector.ts";
import { list } from "./list.ts";
import { memory } from "./memory.ts";
import { million } from "./million.ts";
import { recovery } from "./recovery.ts";
import { stalled } from "./stalled.ts";
import { startup } from "./startup.ts";
import { step } from "./step.ts";
import { stream } from "./stream.ts";
import { subscriptions } from "./subscriptions.ts";
import { unary } from "./unary.ts";
import { waiting } from "./waiting.ts";

/** All scenarios, in the order in which they run. */
export const scenarios: readonly Scenario[] = [
  startup,
  unary,
  stream,
  burst,
  fanout,
  stalled,
  list,
  growth,
  memory,
  subscriptions,
  waiting,
  recovery,
  step,
  million,
  client,
  cards,
  hostile,
  gate,
  inspector,
];
