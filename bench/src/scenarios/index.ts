import type { Scenario } from "../scenario.ts";
import { burst } from "./burst.ts";
import { list } from "./list.ts";
import { memory } from "./memory.ts";
import { startup } from "./startup.ts";
import { stream } from "./stream.ts";
import { subscriptions } from "./subscriptions.ts";
import { unary } from "./unary.ts";

/** All scenarios, in the order in which they run. */
export const scenarios: readonly Scenario[] = [startup, unary, stream, burst, list, memory, subscriptions];
