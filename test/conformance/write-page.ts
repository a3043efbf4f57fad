import { writeFileSync } from "node:fs";
import { pageUrl, renderPage } from "./conformance-page.ts";
import { readCoverage } from "./coverage.ts";
import { gaps, requirements } from "./requirements.ts";
import { allScenarios } from "./scenarios/index.ts";

writeFileSync(pageUrl, renderPage(readCoverage(requirements, allScenarios, gaps)));
