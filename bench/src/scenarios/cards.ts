import { AgentCardSchema } from "@a2a-connect/proto";
import {
  type CardSigner,
  canonicalSignedCard,
  createCardSigner,
  createCardVerifier,
  generateSigningKey,
  signCard,
} from "@a2a-connect/signing";
import { generateAgentCardSignature, verifyAgentCardSignature } from "@a2a-js/sdk";
import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { importJWK } from "jose";
import { type AimVerdict, judgeRatio } from "../report/aim.ts";
import { median } from "../report/statistics.ts";
import { formatNumber, formatRatio } from "../report/table.ts";
import type { Scenario, ScenarioResult } from "../scenario.ts";

/** One thing that is done again and again, one after the other. */
interface Work {
  readonly name: string;
  readonly ours: () => Promise<unknown>;
  readonly peer: () => Promise<unknown>;
}

/** What one round took, per operation. */
interface Round {
  readonly timeUs: number;
  /** CPU of the whole process: Web Crypto works in threads beside the main one. */
  readonly cpuUs: number;
}

const cardBytes = 10 * 1024;

/** What signing and verifying a card costs: ours beside `@a2a-js/sdk`, in one process and in turns. */
export const cards: Scenario = {
  name: "cards",
  summary:
    "Signing and verifying a card of 10 KB with ES256, one after the other in one process, both sides in turns; keys are imported before. Verifying begins with the text as it was received. Ratios are theirs / ours. What is verified differs: ours covers every member, and refuses duplicate names, algorithms that are not allowed and cards that lack something; theirs leaves out whatever is empty or unknown.",
  async run({ quick, progress }) {
    const [count, rounds] = quick ? [50, 3] : [1_000, 11];
    const figures: { readonly name: string; readonly ours: Round; readonly peer: Round }[] = [];
    for (const { name, ours, peer } of await prepare()) {
      progress(name);
      figures.push({ name, ...(await compare({ ours, peer }, count, rounds)) });
    }
    return report(figures);
  },
};

async function prepare(): Promise<readonly Work[]> {
  const json = largeCard();
  const card = fromJson(AgentCardSchema, json);
  const { privateJwk, publicJwk } = await generateSigningKey({ kid: "bench" });
  const signer: CardSigner = await createCardSigner({ key: privateJwk });
  const peerKey = await importJWK(privateJwk, "ES256");
  const peerPublicKey = await importJWK(publicJwk, "ES256");
  const signAsPeer = generateAgentCardSignature(peerKey as CryptoKey, {
    alg: "ES256",
    kid: "bench",
    typ: "JOSE",
  });
  const verifyAsPeer = verifyAgentCardSignature(async () => peerPublicKey as CryptoKey);
  // Nothing in this card is empty, so that both sign the same bytes, and one signature does for both.
  const text = canonicalSignedCard(await signCard(card, { signer }));
  const verifier = createCardVerifier({ keys: [publicJwk] });
  return [
    {
      name: "sign",
      ours: () => signCard(card, { signer }),
      peer: () => signAsPeer(json as never), // the SDK's type of a card is its own; it reads ProtoJSON
    },
    {
      name: "verify, text to verdict",
      ours: async () => {
        const { verified, message } = await verifier.verify(text, {});
        if (!verified) {
          throw new Error(message);
        }
      },
      peer: () => verifyAsPeer(JSON.parse(text)),
    },
  ];
}

/** A card with skills until it has 10 KB of JSON. */
function largeCard(): JsonObject {
  const skills: JsonObject[] = [];
  const card: JsonObject = {
    name: "Bench",
    description: "A card of the size that a busy agent has",
    version: "1.0.0",
    supportedInterfaces: [
      { url: "https://bench.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    ],
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "bearer" } } },
    securityRequirements: [{ schemes: { bearer: { list: ["tasks"] } } }],
    skills,
  };
  while (JSON.stringify(card).length < cardBytes) {
    const id = `skill-${skills.length}`;
    skills.push({
      id,
      name: `Skill number ${skills.length}`,
      description: "Takes a text and gives back what it says in fewer words, in the language of the caller.",
      tags: ["text", "summary", id],
      examples: ["Sum this up in three sentences.", "Which of these letters is a complaint?"],
      inputModes: ["text/plain", "application/json"],
    });
  }
  return card;
}

async function compare(
  { ours, peer }: Pick<Work, "ours" | "peer">,
  count: number,
  rounds: number,
): Promise<{ readonly ours: Round; readonly peer: Round }> {
  const taken = { ours: [] as Round[], peer: [] as Round[] };
  // The first rounds belong to the just-in-time compilers.
  for (let round = -2; round < rounds; round++) {
    const ourRound = await measure(ours, count);
    const peerRound = await measure(peer, count);
    if (round >= 0) {
      taken.ours.push(ourRound);
      taken.peer.push(peerRound);
    }
  }
  return { ours: middle(taken.ours), peer: middle(taken.peer) };
}

async function measure(work: () => Promise<unknown>, count: number): Promise<Round> {
  const cpu = process.cpuUsage();
  const began = performance.now();
  for (let done = 0; done < count; done++) {
    await work();
  }
  const timeUs = ((performance.now() - began) * 1_000) / count;
  const { user, system } = process.cpuUsage(cpu);
  return { timeUs, cpuUs: (user + system) / count };
}

function middle(rounds: readonly Round[]): Round {
  return {
    timeUs: median(rounds.map(({ timeUs }) => timeUs)),
    cpuUs: median(rounds.map(({ cpuUs }) => cpuUs)),
  };
}

function report(
  figures: readonly { readonly name: string; readonly ours: Round; readonly peer: Round }[],
): ScenarioResult {
  const aims: AimVerdict[] = figures
    .filter(({ name }) => name.startsWith("verify"))
    .map(({ name, ours, peer }) =>
      judgeRatio(name, 1, { time: peer.timeUs / ours.timeUs, cpu: peer.cpuUs / ours.cpuUs }),
    );
  return {
    table: {
      columns: ["what", "ours µs", "peer µs", "ratio", "ours CPU µs", "peer CPU µs", "ratio"],
      rows: figures.map(({ name, ours, peer }) => [
        name,
        formatNumber(ours.timeUs),
        formatNumber(peer.timeUs),
        formatRatio(peer.timeUs / ours.timeUs),
        formatNumber(ours.cpuUs),
        formatNumber(peer.cpuUs),
        formatRatio(peer.cpuUs / ours.cpuUs),
      ]),
    },
    aims,
    measurements: figures,
  };
}
