import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { makeKey, plainCard, signText, type TestKey } from "../../test-support/signed-card.ts";
import { canonicalCard } from "../canonical/canonical-card.ts";
import { thumbprintOf } from "../keys/key.ts";
import type { CardVerdict } from "../verify/verdict.ts";
import type { VerificationContext } from "../verify/verify-card.ts";
import { createCardVerifier } from "../verify/verify-card.ts";
import type { CardMemory, RememberedCard } from "./card-memory.ts";
import { createCardMemory } from "./card-memory.ts";
import type { TrustPolicy } from "./trust-policy.ts";

const origin = "https://agents.example.org";
const url = `${origin}/.well-known/agent-card.json`;
const jku = `${origin}/jwks.json`;
const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * hourMs;

const [a, b, x] = [await makeKey("a"), await makeKey("b"), await makeKey("x")];
const thumbprints = {
  a: await thumbprintOf(a.public),
  b: await thumbprintOf(b.public),
  x: await thumbprintOf(x.public),
};
const open: JsonObject = { ...plainCard, securityRequirements: [], securitySchemes: {} };

async function sign(card: JsonObject, ...keys: readonly TestKey[]): Promise<string> {
  const payload = canonicalCard(JSON.stringify(card));
  const signatures = await Promise.all(keys.map((key) => signText(payload, key, { jku })));
  return JSON.stringify({ ...card, signatures });
}

/** A client whose agents publish all keys there are. */
function createClient(memory: CardMemory = createCardMemory(), given: Omit<TrustPolicy, "memory"> = {}) {
  let now = Date.parse("2030-01-01T00:00:00Z");
  const keys = [a, b, x].map((key) => key.public);
  const policy = { jku: { fetch: async () => Response.json({ keys }) }, ...given, memory };
  const verifier = createCardVerifier(policy);
  const verify = (text: string, context: VerificationContext = { url }): Promise<CardVerdict> =>
    verifier.verify(text, { ...context, now: () => now });
  return {
    memory,
    verify,
    meet: async (...keys: readonly TestKey[]) => tell(await verify(await sign(plainCard, ...keys))),
    wait: (ms: number) => {
      now += ms;
    },
    known: async () => (await memory.read(origin))?.thumbprints,
  };
}

/** The reason, or which alarms there were. */
function tell({ reason, alarms }: CardVerdict): string {
  return reason ?? (alarms.map(({ kind }) => kind).join(" ") || "trusted");
}

describe("cards of one agent at the same time", () => {
  /** Answers only after everybody who asks at once has asked, and writes whatever it is given. */
  function createSlowMemory(): CardMemory {
    const memory = createCardMemory();
    return {
      ...memory,
      read: async (key) => {
        const found = await memory.read(key);
        await new Promise((resolve) => setImmediate(resolve));
        return found;
      },
      write: (key, card) => memory.write(key, card),
    };
  }

  it("are not both the first one", async () => {
    const { verify, known } = createClient(createSlowMemory());
    const cards = [await sign(plainCard, a), await sign(open, x)];
    const verdicts = await Promise.all(cards.map((card) => verify(card)));
    expect(verdicts.map(tell).sort()).toEqual(["first-use", "pin-changed"]);
    const first = verdicts.findIndex(({ verified }) => verified);
    expect(await known()).toEqual([[thumbprints.a], [thumbprints.x]][first]);
  });

  it("do not make the agent forget that it was stronger", async () => {
    const { verify } = createClient(createSlowMemory());
    const weaker = { ...plainCard, securityRequirements: [{ schemes: { google: { list: [] } } }] };
    const [weak, strong] = [await sign(weaker, a), await sign(plainCard, a)];
    await verify(weak);
    const verdicts = await Promise.all([verify(strong), verify(weak), verify(strong), verify(weak)]);
    expect([verdicts[0], verdicts[2]]).toMatchObject([{ verified: true }, { verified: true }]);
    expect(tell(await verify(weak))).toBe("downgrade");
  });

  it("are judged also when one before them could not be", async () => {
    const memory = createCardMemory();
    let reads = 0;
    const failing: CardMemory = {
      ...memory,
      read: async (key) => {
        reads += 1;
        if (reads === 1) throw new Error("disk on fire");
        return await memory.read(key);
      },
    };
    const { verify } = createClient(failing);
    const card = await sign(plainCard, a);
    const verdicts = await Promise.allSettled([verify(card), verify(card)]);
    // Either may be the first to read: signatures are checked beside each other.
    expect(
      verdicts.map((each) => (each.status === "fulfilled" ? tell(each.value) : `${each.reason}`)).toSorted(),
    ).toEqual(["Error: disk on fire", "first-use"]);
  });

  it("are judged again when somebody else has written in between", async () => {
    const memory = createCardMemory();
    const other = createClient(memory);
    let meddle = async (): Promise<unknown> => await other.verify(await sign(plainCard, a));
    const raced: CardMemory = {
      ...memory,
      read: async (key) => {
        const found = await memory.read(key);
        const now = meddle;
        meddle = async () => {};
        await now();
        return found;
      },
    };
    const { verify } = createClient(raced);
    expect(tell(await verify(await sign(open, x)))).toBe("pin-changed");
    expect((await memory.read(origin))?.thumbprints).toEqual([thumbprints.a]);
  });

  it("are not trusted when that happens time and again", async () => {
    let reads = 0;
    const restless: CardMemory = {
      ...createCardMemory(),
      read: async () => {
        reads += 1;
        return undefined;
      },
      write: async () => false,
    };
    await expect(createClient(restless).verify(await sign(plainCard, a))).rejects.toThrow(
      `what is remembered of ${origin} changes faster than a card can be compared with it`,
    );
    expect(reads).toBe(5);
  });
});

describe("what is remembered of a card", () => {
  it("is what later ones are compared with, and not what people read", async () => {
    const { memory, verify } = createClient();
    const card = { ...plainCard, documentationUrl: "https://agents.example.org/docs" };
    await verify(await sign(card, a));
    const { outline = "" } = (await memory.read(origin)) ?? {};
    expect(JSON.parse(outline)).toEqual({
      name: "Clerk",
      version: "1.0.0",
      supportedInterfaces: plainCard["supportedInterfaces"],
      securitySchemes: plainCard["securitySchemes"],
      securityRequirements: plainCard["securityRequirements"],
      skills: [{ id: "count" }],
    });
  });

  it("is written when it has changed, or the agent was not seen for a day", async () => {
    const memory = createCardMemory();
    let writes = 0;
    const counted: CardMemory = {
      ...memory,
      write: (...given) => {
        writes += 1;
        return memory.write(...given);
      },
    };
    const { verify, wait } = createClient(counted);
    const writesFor = async (card: JsonObject): Promise<number> => {
      const before = writes;
      expect((await verify(await sign(card, a))).verified).toBe(true);
      return writes - before;
    };
    expect(await writesFor(plainCard)).toBe(1);
    expect(await writesFor({ ...plainCard, description: "Keeps more books" })).toBe(0);
    wait(dayMs - 1);
    expect(await writesFor(plainCard)).toBe(0);
    wait(1);
    expect(await writesFor(plainCard)).toBe(1);
    expect(await writesFor({ ...plainCard, version: "1.0.1" })).toBe(1);
  });

  /** A card that declares more than is kept. */
  const large: JsonObject = {
    ...plainCard,
    skills: Array.from({ length: 3_000 }, (_, index) => ({
      id: `a skill with a long name ${index}`,
      name: "S",
      description: "Does.",
      tags: [],
    })),
  };

  it("is no more than a digest when it is too large: the same card passes, and another one is refused", async () => {
    const { verify, memory } = createClient();
    const first = await verify(await sign(large, a));
    expect(tell(first)).toBe("first-use not-remembered");
    expect(first.alarms[1]?.text).toMatch(/too large to be remembered/);
    expect(JSON.stringify(await memory.read(origin)).length).toBeLessThan(500);
    expect((await verify(await sign({ ...large, description: "Other" }, a))).verified).toBe(true);
    const other = await verify(await sign({ ...large, version: "1.0.1" }, a));
    expect(other.reason).toBe("downgrade");
    expect(other.message).toContain("is no longer stored");
    expect(other.message).not.toContain("is weaker");
    const extended = await verify(await sign({ ...large, name: "Extended" }, a), { url, extended: true });
    expect([extended.verified, tell(extended)]).toEqual([true, "not-remembered"]);
    expect(tell(await verify(await sign(large, x)))).toBe("pin-changed");
  });

  it("lets a card that cannot be compared pass where weaker ones do, with an alarm each time", async () => {
    const { verify } = createClient(createCardMemory(), { onDowngrade: "alarm" });
    await verify(await sign(large, a));
    const other = await sign({ ...plainCard, version: "1.0.1" }, a);
    expect(tell(await verify(other))).toBe("downgrade");
    expect(tell(await verify(other))).toBe("downgrade");
  });

  it("keeps its keys however many large cards others have", async () => {
    const memory = createCardMemory();
    const { verify, known } = createClient(memory, { keys: [a.public, x.public] });
    await verify(await sign(plainCard, a));
    const { outline: _, ...rest } = (await memory.read(origin)) ?? expect.fail();
    const other = { ...rest, outline: "x".repeat(60 * 1024 * 1024) };
    for (const host of ["h1", "h2"]) await memory.write(`https://${host}.example`, other);
    expect(await memory.read(origin)).toEqual(rest);
    expect(await known()).toEqual([thumbprints.a]);
    expect(tell(await verify(await sign(open, x)))).toBe("pin-changed");
    expect(tell(await verify(await sign(plainCard, a)))).toBe("trusted");
  });
});

describe("what a card declares that a memory has left out", () => {
  const card = { keys: [a.public] };
  const release = { ...plainCard, version: "1.0.1" };

  /** A memory without what the last card of the agent declared. */
  async function createPushedOut(): Promise<ReturnType<typeof createClient>> {
    const client = createClient(createCardMemory(), card);
    await client.verify(await sign(plainCard, a));
    const { outline: _, ...rest } = (await client.memory.read(origin)) ?? expect.fail();
    await client.memory.write(origin, rest);
    return client;
  }

  it("is written back when the same card is seen again", async () => {
    const { verify, memory } = await createPushedOut();
    expect(tell(await verify(await sign(plainCard, a)))).toBe("trusted");
    expect((await memory.read(origin))?.outline).toBeDefined();
    expect(tell(await verify(await sign(release, a)))).toBe("trusted");
  });

  it("is said to be kept no more when another card cannot be compared with it", async () => {
    const { verify } = await createPushedOut();
    const { reason, message } = await verify(await sign(release, a));
    expect(reason).toBe("downgrade");
    expect(message).toContain("is no longer stored");
    expect(message).not.toContain("too large");
  });
});

describe("a memory that does not answer", () => {
  const hung: CardMemory = { ...createCardMemory(), read: () => new Promise(() => {}) };

  it("is not waited for by whoever is aborted", async () => {
    const { verify } = createClient(hung);
    const card = await sign(plainCard, a);
    const first = new AbortController();
    const second = new AbortController();
    const verdicts = [first, second].map(({ signal }) => verify(card, { url, signal }));
    second.abort(new Error("second"));
    await expect(verdicts[1]).rejects.toThrow("second");
    first.abort(new Error("first"));
    await expect(verdicts[0]).rejects.toThrow("first");
  });
});

describe("an extended card", () => {
  const extended = { url, extended: true };

  it("must be signed by a known key; one that only begins to be known does not do", async () => {
    const { verify, meet, wait } = createClient();
    await meet(a);
    await meet(a, x);
    wait(dayMs);
    expect(tell(await verify(await sign(plainCard, x), extended))).toBe("pin-changed");
    expect(tell(await verify(await sign(plainCard, a, x), extended))).toBe("trusted");
  });

  it("is not asked for the signatures of all of them", async () => {
    const { verify, meet, known } = createClient();
    await meet(a, b);
    expect(tell(await verify(await sign(plainCard, b), extended))).toBe("trusted");
    expect(await known()).toEqual([thumbprints.a, thumbprints.b]);
  });
});

describe("a card that came from nowhere on the web", () => {
  for (const [where, context] of [
    ["is not known where it came from", {}],
    ["came from a file", { url: "file:///card.json" }],
    ["came from the memory of a page", { url: `blob:${origin}/0b5a` }],
    ["is an extended one", { extended: true }],
  ] satisfies readonly (readonly [string, VerificationContext])[]) {
    it(`cannot be compared, and that is told, when it ${where}`, async () => {
      const { verify } = createClient(createCardMemory(), { keys: [a.public] });
      const { verified, alarms } = await verify(await sign(plainCard, a), context);
      expect(verified).toBe(true);
      expect(alarms).toEqual([
        {
          kind: "not-remembered",
          text: "The card did not come from an http or https URL: it is neither compared nor remembered.",
          paths: [],
        },
      ]);
    });
  }

  it("says nothing of that where there is no memory", async () => {
    const verifier = createCardVerifier({ keys: [a.public] });
    expect((await verifier.verify(await sign(plainCard, a))).alarms).toEqual([]);
  });

  it("has no key set of its own", async () => {
    const { verify } = createClient();
    const blob = { url: `blob:${origin}/0b5a` };
    expect(tell(await verify(await sign(plainCard, a), blob))).toBe("jku-not-allowed");
  });
});

describe("agents whose URLs differ in their query", () => {
  it("are told apart, and the query is not written down", async () => {
    const written = new Map<string, RememberedCard>();
    const memory: CardMemory = {
      read: async (key) => written.get(key),
      write: async (key, card) => {
        written.set(key, card);
        return true;
      },
      forget: async (key) => void written.delete(key),
    };
    const { verify } = createClient(memory);
    const at = (query: string) => ({ url: `${origin}/card?${query}` });
    await verify(await sign(plainCard, a), at("agent=secret-a"));
    const second = await verify(await sign(open, x), at("agent=secret-b"));
    expect(tell(second)).toBe("first-use");
    expect(tell(await verify(await sign(plainCard, x), at("agent=secret-a")))).toBe("pin-changed");
    expect(JSON.stringify([...written, second])).not.toContain("secret");
  });
});
