import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import { afterAll, describe, expect, it } from "vitest";
import { serve } from "./serve.ts";

const directory = mkdtempSync(join(tmpdir(), "a2a-serve-options-"));
afterAll(() => rmSync(directory, { recursive: true }));
const file = join(directory, "agent.sqlite");

const agent = defineAgent({
  card: { name: "Echo", skills: [{ id: "echo", name: "Echo", description: "Repeats." }] },
  async *execute(turn) {
    yield turn.artifact({ text: turn.text });
  },
});

/** As plain JavaScript calls it. */
const call = (...args: unknown[]): Promise<unknown> =>
  (serve as unknown as (...args: unknown[]) => Promise<unknown>)(...args); // without its types

describe("serve in plain JavaScript", () => {
  for (const [options, sentence] of [
    [
      { store: file },
      `"store" of the options of serve(…) is a TaskStore, such as createMemoryTaskStore(); the path of a database is the option "file"; it is a string`,
    ],
    [
      { file: { path: file } },
      '"file" of the options of serve(…) is a string; it is an object without what that needs',
    ],
    [{ port: "4000" }, '"port" of the options of serve(…) is a number; it is a string'],
    [{ log: true }, '"log" of the options of serve(…) is a function; it is true'],
    [
      { allowedHosts: "localhost" },
      '"allowedHosts" of the options of serve(…) is an array of strings; it is a string',
    ],
    [
      { trustedProxies: [1] },
      '"trustedProxies" of the options of serve(…) is an array of strings; it is an array',
    ],
    [{ retentionMs: true }, '"retentionMs" of the options of serve(…) is false, or a number; it is true'],
    [
      { push: "https://hook.example" },
      '"push" of the options of serve(…) is true, or false, or an object; it is a string',
    ],
    [{ limits: null }, '"limits" of the options of serve(…) is an object; it is null'],
    [4000, "the options of serve(…) are an object, not 4000"],
  ] as const) {
    it(`names the option that is wrong: ${JSON.stringify(options)}`, async () => {
      const outcome = call(agent, typeof options === "object" ? { file, ...options } : options);
      await expect(outcome).rejects.toThrow(new Error(sentence));
      await expect(call({ echo: agent }, options)).rejects.toThrow(new Error(sentence));
      expect(existsSync(file)).toBe(false);
    });
  }

  const wanted = "serve(…) takes an agent, or an object of agents by their names";
  for (const [agents, sentence] of [
    [undefined, `${wanted}; it got undefined`],
    ["agent.ts", `${wanted}; it got a string`],
    [[agent], `${wanted}; it got an array`],
    [
      { store: file },
      `${wanted}; "store" is a string, and neither what defineAgent returned nor { agent: … } with options`,
    ],
    [{ echo: { agent, store: file } }, '"store" of the options of the agent "echo" is a TaskStore'],
    [
      { echo: { agent: "echo" } },
      '"agent" of the options of the agent "echo" is what defineAgent returned; it is a string',
    ],
  ] as const) {
    it(`says what it serves: ${sentence}`, async () => {
      await expect(call(agents)).rejects.toThrow(sentence);
    });
  }

  it("takes what is right", async () => {
    for (const store of [{ store: createMemoryTaskStore() }, {}]) {
      await using served = await serve(agent, {
        file,
        ...store,
        retentionMs: false,
        cors: false,
        push: true,
      });
      expect((await fetch(`${served.url}/healthz`)).status).toBe(200);
    }
  });
});
