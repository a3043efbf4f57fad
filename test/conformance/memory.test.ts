import { runScenarios } from "./run-scenarios.ts";

runScenarios("memory");
