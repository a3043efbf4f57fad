// Callers that speak A2A 0.3 alone, as they are published, and the reference agent as `npm start` serves it. docs/versions.md has
// what was seen.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startReceiver } from "@a2a-connect/conformance";
import { type ServedAgent, serve } from "@a2a-connect/node";
import { createReferenceAgent, profileOptions } from "@a2a-connect/reference-agent";
import { createMemoryTaskStore } from "@a2a-connect/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAdkCaller, loadAiSdkCaller } from "./older/framework-callers.ts";
import { type OlderCaller, outcomes, type ScenarioName, type Scenarios } from "./older/scenarios.ts";
import { createJavaScriptCaller, startPythonCaller } from "./older/sdk-callers.ts";
import type { Binding } from "./peers/caller.ts";
import { frameworks, type Installation, olderPython, root, whereInstalled } from "./peers/languages.ts";

interface Peer {
  readonly name: string;
  readonly needs: readonly Installation[];
  start(): OlderCaller | Promise<OlderCaller>;
}

const peers: readonly Peer[] = [
  { name: "`@a2a-js/sdk` 0.3.14", needs: [], start: createJavaScriptCaller },
  { name: "`a2a-sdk` 0.3.26 of Python", needs: [olderPython], start: startPythonCaller },
  { name: "`@google/adk` 2.0.0", needs: [frameworks], start: createAdkCaller },
  { name: "`a2a-ai-provider` 0.5.0-alpha.1", needs: [frameworks], start: loadAiSdkCaller },
];
const bindings: readonly Binding[] = ["JSONRPC", "HTTP+JSON", "GRPC"];
const scenarioNames = Object.keys(outcomes) as ScenarioName[]; // the keys of the table

let served: ServedAgent;
beforeAll(async () => {
  served = await serve(createReferenceAgent("full"), {
    ...profileOptions("full"),
    store: createMemoryTaskStore(),
    push: { allow: ["127.0.0.1"] },
  });
});
afterAll(() => served.close({ graceMs: 0 }));

/** What came of each scenario of each caller over each binding: `yes`, or the reason why it was not tried. */
const seen = new Map<string, string>();

for (const { name, needs, start } of peers) {
  describe(name, whereInstalled(...needs), () => {
    let caller: OlderCaller;
    beforeAll(async () => {
      caller = await start();
    });
    afterAll(() => caller[Symbol.asyncDispose]());

    for (const binding of bindings) {
      for (const scenario of scenarioNames) {
        it(`${scenario} over ${binding}`, async () => {
          const cell = [name, binding, scenario].join();
          const reason = caller.without[binding] ?? caller.without[scenario];
          if (reason !== undefined) {
            seen.set(cell, reason);
            return;
          }
          const run = caller.open(served.url, binding)[scenario] as Scenarios["push"]; // the others ignore the webhook
          await using receiver = await startReceiver();
          expect(await run(`${receiver.url}/hook`)).toMatchObject(outcomes[scenario]);
          if (scenario === "push") {
            const tasks = () => receiver.requests.map(({ body }) => JSON.parse(body.toString()));
            await receiver.until(() => tasks().some(({ status }) => status.state === "completed"));
            expect(tasks().at(-1)).toMatchObject({ kind: "task" });
            expect(receiver.requests.at(-1)?.head).toMatch(/^x-a2a-notification-token: the-token$/im);
          }
          seen.set(cell, "yes");
        });
      }
    }
  });
}

it("docs/versions.md has what was seen", whereInstalled(olderPython, frameworks), async () => {
  const path = join(root, "docs/versions.md");
  const page = readFileSync(path, "utf8");
  const block = /(<!-- callers -->\n)[\s\S]*?(<!-- end callers -->)/;
  expect(page).toMatch(block);
  const written = page.replace(block, (_, begin: string, end: string) => `${begin}\n${matrix()}\n${end}`);
  await expect(written).toMatchFileSnapshot(path);
});

/** A row for each caller and binding; reasons stand below, where a number names them. */
function matrix(): string {
  const reasons = [...new Set(seen.values())].filter((each) => each !== "yes");
  const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rows = peers.flatMap(({ name }) =>
    bindings.map((binding) =>
      row([
        name,
        binding,
        ...scenarioNames.map((scenario) => {
          const cell = seen.get([name, binding, scenario].join()) ?? "";
          return reasons.includes(cell) ? `no (${reasons.indexOf(cell) + 1})` : cell;
        }),
      ]),
    ),
  );
  const head = row(["caller", "over", ...scenarioNames]);
  const rule = row(["caller", "over", ...scenarioNames].map(() => "---"));
  const notes = reasons.map((reason, index) => `${index + 1}. ${reason}`);
  return [head, rule, ...rows, "", ...notes, ""].join("\n");
}
