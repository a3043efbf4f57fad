import { runScenarios } from "./run-scenarios.ts";
import { allScenarios } from "./scenarios/index.ts";

runScenarios("sqlite", Object.values(allScenarios));
