import { readCard } from "@a2a-connect/client/internal";
import type { ConformanceOptions, Result } from "@a2a-connect/conformance";
import { nodePlatform } from "@a2a-connect/node/client";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import type { AgentSettings } from "../agent/agent-settings.ts";
import { findCardVerifier } from "../agent/card-verifier.ts";
import { findCallHeaders } from "../agent/credential-places.ts";
import type { CliIo } from "../cli-io.ts";
import { judgeDeclarations, judgeSignatures, readFields } from "./card.ts";
import { cardPath, type ExaminedCard, locateCard } from "./card-location.ts";
import { type Finding, find, findUnmet, mergeFindings } from "./findings.ts";
import { type TriedInterfaces, tryInterfaces } from "./interfaces.ts";
import { findNetwork } from "./network.ts";

export interface ExamineOptions {
  /** What holds for the agent: the user's credentials, and the key that should have signed its card. */
  readonly settings: AgentSettings;
  readonly io: Pick<CliIo, "cwd" | "stdin">;
  /** For each request. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onFinding: (finding: Finding) => Promise<void>;
}

export interface Diagnosis {
  readonly findings: readonly Finding[];
  readonly cardUrl: string | undefined;
  readonly card: AgentCard | undefined;
  /** What the conformance kit has tried. */
  readonly results: readonly Result[];
}

/**
 * Examines an agent: the network, the card and each interface first, then what the conformance kit can try without a message to the
 * agent. The servers of a card that is not verified, although a key is known, are not asked: the card may have been changed to name
 * them, and they would be told credentials. @throws the signal's reason when it is aborted
 */
export async function examine(
  target: URL | ExaminedCard,
  { settings, io, timeoutMs, signal, onFinding }: ExamineOptions,
): Promise<Diagnosis> {
  const { insecure, serviceParameters } = settings;
  const platform = nodePlatform({
    ...{ connectTimeoutMs: timeoutMs, tls: { insecure } },
    ...(target instanceof URL && { cardUrl: target }),
  });
  await using _closing = { [Symbol.asyncDispose]: () => platform.close() };
  const asking = { fetch: platform.fetch ?? globalThis.fetch, timeoutMs, insecure, signal };
  const findings: Finding[] = [];
  const add = async (found: readonly Finding[]): Promise<void> => {
    for (const finding of mergeFindings(found)) {
      findings.push(finding);
      await onFinding(finding);
    }
  };
  let found: ExaminedCard | undefined;
  const close = (card?: AgentCard, results: readonly Result[] = []): Diagnosis => ({
    ...{ findings, cardUrl: found?.url, card, results },
  });
  if (target instanceof URL) {
    const network = await findNetwork(target, asking);
    await add(network);
    if (!network.some(({ id }) => id === "network.reached")) return close();
    const located = await locateCard(target, serviceParameters, asking);
    await add(located.findings);
    found = located.card;
  } else found = target;
  if (found === undefined) return close();
  const kit = await import("@a2a-connect/conformance");
  const defects = kit.findDefects(AgentCardSchema, found.json);
  const mayRead = defects.length < kit.maxDefects || defects.every(kit.isOlderMember);
  const fields = readFields(found, defects, kit.isOlderMember, mayRead);
  await add(fields.findings);
  if (!mayRead) return close();
  // As our client reads it; what is wrong with it was said.
  const read = await readCard(found.text).then(
    (each) => each.card,
    () => undefined,
  );
  const card = fields.card ?? read;
  if (card === undefined) return close();
  const verify = await findCardVerifier(settings, io);
  const verification = await verify?.(found.text);
  await add([
    await judgeSignatures(found, card, verification, signal),
    ...judgeDeclarations(card),
    ...(verification?.verified === false ? [find("card.not-asked")] : []),
  ]);
  if (verification?.verified === false) return close(card);
  const cardUrl = found.url === undefined ? undefined : new URL(found.url);
  const { supportedInterfaces } = read ?? card; // with those of A2A 0.3
  const headers = findCallHeaders(found.json, settings);
  const callable = { ...card, supportedInterfaces };
  const tried = await tryInterfaces(callable, cardUrl, { ...asking, platform, headers, wires: kit.wires });
  await add(tried.findings);
  if (fields.card === undefined) return close(card); // the kit is for 1.0
  const results = await runKit(kit, card, cardUrl, tried, {
    ...{ headers, signal, card: found.json, fetch: asking.fetch, tls: { rejectUnauthorized: !insecure } },
    scenarioTimeoutMs: Math.max(timeoutMs, 10_000),
  });
  await add(judgeResults(kit, results, tried));
  return close(card, results);
}

type Kit = typeof import("@a2a-connect/conformance");

/** What can be tried over the interfaces that answer, and of the card where it is where it belongs. */
async function runKit(
  kit: Kit,
  { supportedInterfaces }: AgentCard,
  cardUrl: URL | undefined,
  { live }: TriedInterfaces,
  options: ConformanceOptions,
): Promise<readonly Result[]> {
  const isInPlace = cardUrl?.pathname.endsWith(cardPath) === true;
  const places = [...(isInPlace ? (["card"] as const) : []), ...live.keys()];
  if (places.length === 0) return [];
  const first = supportedInterfaces.map(({ url }) => URL.parse(url)?.href).find((url) => url !== undefined);
  try {
    using run = await kit.runConformance(cardUrl?.href ?? first ?? "http://localhost", {
      ...options,
      ...{ places, quiet: true },
    });
    return await Array.fromAsync(run.results());
  } catch (error) {
    if (error instanceof kit.CannotExamine) return []; // it knows none of the interfaces, which was said
    throw error;
  }
}

/** Of a card these were looked at before, with more to say about them. */
const saidBefore: ReadonlySet<string> = new Set(["L-1", "L-9"]);

const gravity = ["problem", "warning", "note", "ok"] as const;

/** What the results of the kit come to, the most important first. */
function judgeResults(kit: Kit, results: readonly Result[], { live }: TriedInterfaces): Finding[] {
  const labels = new Map<string, string>(live);
  const told = results.filter(
    ({ scenario, place }) => place !== "card" || !scenario.ids.some((id) => saidBefore.has(id)),
  );
  const atOf = ({ place }: Result) => [labels.get(place) ?? "card"];
  const failed = told.flatMap((result) => {
    const { scenario, outcome, sentence } = result;
    const [id = ""] = scenario.ids;
    if (outcome === "not-run") return [find("conformance.unfinished", sentence)];
    if (outcome !== "failed") return [];
    const isMust = kit.weightOfScenario(scenario) === "must";
    const unmet = { title: scenario.title, isMust, seen: sentence };
    return [findUnmet(kit.getRequirement(id), unmet, atOf(result))];
  });
  const passed = told.filter(({ outcome }) => outcome === "passed");
  const notes = passed.flatMap((result): Finding[] =>
    result.notes.map((what) => ({
      id: result.scenario.ids[0] ?? "",
      severity: "note",
      what,
      at: atOf(result),
    })),
  );
  const letterOf = ({ scenario: { ids } }: Result) => ids[0]?.replace(/-.*/, "") ?? "";
  const flawed = new Set(told.filter(({ outcome }) => outcome === "failed").map(letterOf));
  const fine = [...Map.groupBy(passed, letterOf)].flatMap(([letter, each]): Finding[] => {
    const what = `${kit.requirementGroups[letter] ?? letter}: everything that a2a tried works.`;
    const places = new Set(each.flatMap(atOf));
    const at = [...labels.values(), "card"].filter((label) => places.has(label));
    return flawed.has(letter) ? [] : [{ id: letter, severity: "ok", what, at }];
  });
  return mergeFindings([...failed, ...notes, ...fine]).toSorted(
    (one, other) => gravity.indexOf(one.severity) - gravity.indexOf(other.severity),
  );
}
