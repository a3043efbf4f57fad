import { runScenarios } from "./run-scenarios.ts";
import { allScenarios } from "./scenarios/index.ts";

runScenarios("memory", allScenarios);
