import type { Check } from "../check.ts";
import { authentication } from "./authentication.ts";
import { cards } from "./cards.ts";
import { configuration } from "./configuration.ts";
import { defaults } from "./defaults.ts";
import { interaction } from "./interaction.ts";
import { output } from "./output.ts";
import { polling } from "./polling.ts";
import { sending } from "./sending.ts";
import { skill } from "./skill.ts";
import { tasks } from "./tasks.ts";
import { tools } from "./tools.ts";
import { transports } from "./transports.ts";

/** All checks, by area. */
export const allChecks: Readonly<Record<string, readonly Check[]>> = {
  cards,
  sending,
  tasks,
  interaction,
  polling,
  output,
  authentication,
  transports,
  defaults,
  configuration,
  tools,
  skill,
};
