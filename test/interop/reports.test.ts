// What `a2a conformance` finds in the servers of the official SDKs: what `reports` says of each, and no more.

import { formatExchanges, getRequirement, type Result, runConformance } from "@a2a-connect/conformance";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { startJsSdkServer } from "../client/js-sdk-server.ts";
import { type Language, languages, whereInstalled } from "./peers/languages.ts";
import { startPeer } from "./peers/peer-process.ts";
import { type Deviation, piecesOf, reports } from "./reports/reports.ts";

/** An agent that is reached by its card. */
interface Server extends AsyncDisposable {
  readonly url: string;
}

const servers: Readonly<
  Record<keyof typeof reports, readonly [options: object, start: () => Promise<Server>]>
> = {
  "a2a-js-sdk": [{}, startQuietJsServer],
  "a2a-python-sdk": peerIn("Python"),
  "a2a-go-sdk": peerIn("Go"),
};

/** For a whole run, and for one scenario: for machines that are slow. */
const limits = { runTimeoutMs: 55_000, scenarioTimeoutMs: 20_000 };

describe.each(Object.entries(servers))("the server of %s", (name, [options, start]) => {
  const deviations: readonly Deviation[] = reports[name as keyof typeof reports]; // the keys are the same

  describe("as `a2a conformance` sees it", options, () => {
    let results: readonly Result[];
    beforeAll(async () => {
      await using server = await start();
      using run = await runConformance(server.url, limits);
      results = await Array.fromAsync(run.results());
    });

    it("does all else that is demanded of any agent", () => {
      const count = (outcome: Result["outcome"]) => results.filter((each) => each.outcome === outcome).length;
      expect(count("not-run")).toBe(0);
      expect(count("passed")).toBeGreaterThan(3 * count("failed"));
      const unknown = results
        .filter(({ outcome }) => outcome === "failed")
        .filter(
          (result) => !deviations.some((each) => isOf(result, each) && each.places.includes(result.place)),
        )
        .map(({ scenario: { ids, title }, place, sentence }) => ({ ids, title, place, sentence }));
      expect(unknown, `new: check it by hand, then add it to reports/${name}.json`).toEqual([]);
    });

    it.each(deviations)("$ids $title (not so)", (deviation) => {
      const pieces = piecesOf(deviation).map((piece) => piece.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
      for (const place of deviation.places) {
        const result = results.find((each) => each.place === place && isOf(each, deviation));
        expect(result, `over ${place}: there is no such scenario, delete it`).toBeDefined();
        if (deviation.sometimes && result?.outcome === "passed") continue;
        expect(result?.outcome, `over ${place}: it is so by now, delete it`).toBe("failed");
        const said = `${formatExchanges(result?.exchanges ?? [])}\n${result?.sentence}`;
        expect(said, `over ${place}`).toMatch(new RegExp(pieces.join("[\\s\\S]*")));
      }
    });
  });

  it.each(deviations)("$ids $title: the reason names a requirement", ({ because }) => {
    const cited = because.match(/\b[A-R]-\d+\b/g) ?? [];
    expect(cited.map((id) => getRequirement(id).of)).toContain(undefined);
  });
});

function isOf({ scenario: { ids, title } }: Result, deviation: Deviation): boolean {
  return title === deviation.title && ids.join() === deviation.ids.join();
}

/** The server of the JavaScript SDK, which would log each error that it answers with, and each webhook. */
async function startQuietJsServer(): Promise<Server> {
  const silenced = (["info", "warn", "error"] as const).map((name) =>
    vi.spyOn(console, name).mockReturnValue(),
  );
  const server = await startJsSdkServer();
  return {
    url: server.url,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      for (const each of silenced) each.mockRestore();
    },
  };
}

function peerIn(name: Language["name"]): readonly [options: object, start: () => Promise<Server>] {
  const language = languages.find((each) => each.name === name);
  if (language === undefined) throw new Error(`there are no peers in ${name}`);
  const start = async (): Promise<Server> => {
    const peer = await startPeer(language.programs.sdk, "{}");
    return { url: peer.agent.url, [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose]() };
  };
  return [whereInstalled(language), start];
}
