import type { JsonObject } from "@bufbuild/protobuf";
import { afterEach, describe, expect, it, vi } from "vitest";
import { makeKey, plainCard, signText } from "../../test-support/signed-card.ts";
import { canonicalCard } from "../canonical/canonical-card.ts";
import { legacyProfiles } from "../profiles/profile-card.ts";
import { SignedCard } from "../signed-card.ts";
import { createCardMemory } from "../trust/card-memory.ts";
import { createCardVerifier } from "./verify-card.ts";

const url = "https://agents.example.org/.well-known/agent-card.json";
const jku = "https://agents.example.org/jwks.json";
const key = await makeKey("one");

afterEach(() => {
  vi.restoreAllMocks();
});

/** A card with so many names in it, and a signature over another card. */
async function cardOf(names: number): Promise<string> {
  const params: JsonObject = Object.fromEntries(Array.from({ length: names }, (_, at) => [`name-${at}`, at]));
  const capabilities = { extensions: [{ uri: "urn:example:names", params }] };
  const signature = await signText(canonicalCard(JSON.stringify(plainCard)), key, { jku });
  return JSON.stringify({ ...plainCard, capabilities, signatures: [signature] });
}

/** A policy that fetches the key set, which comes when it is let go. */
function heldKeySet() {
  const asked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const fetch = async () => {
    asked.resolve();
    await held.promise;
    return Response.json({ keys: [key.public] });
  };
  return { policy: { jku: { fetch } }, asked: asked.promise, release: held.resolve };
}

/** Counts turns of the event loop until it is stopped. */
function countTurns() {
  let [turn, isOver] = [0, false];
  const next = () => {
    turn += 1;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  return {
    get turn() {
      return turn;
    },
    [Symbol.dispose]() {
      isOver = true;
    },
  };
}

/** The most cards of which anything was made in one turn of the event loop; from now on each clock reading is 20 ms after the last. */
function watchLooks() {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (now += 20));
  const turns = countTurns();
  const looks = new Map<number, Set<SignedCard>>();
  const count = (card: SignedCard) => looks.set(turns.turn, (looks.get(turns.turn) ?? new Set()).add(card));
  const { forms } = SignedCard.prototype;
  vi.spyOn(SignedCard.prototype, "forms").mockImplementation(function (this: SignedCard, profile) {
    count(this);
    return forms.call(this, profile);
  });
  for (const name of ["declared", "outline"] as const) {
    const { get } = Object.getOwnPropertyDescriptor(SignedCard.prototype, name) ?? {};
    vi.spyOn(SignedCard.prototype, name, "get").mockImplementation(function (this: SignedCard) {
      count(this);
      return get?.call(this);
    });
  }
  return {
    get most() {
      return Math.max(...Array.from(looks.values(), ({ size }) => size));
    },
    [Symbol.dispose]: () => turns[Symbol.dispose](),
  };
}

describe("many cards", () => {
  it("that wait for one key set are checked one after the other, in turns of the event loop", async () => {
    const { policy, asked, release } = heldKeySet();
    const verifier = createCardVerifier(policy);
    const text = await cardOf(10);
    const cards = Array.from({ length: 20 }, () => verifier.verify(text, { url }));
    await asked;
    using looks = watchLooks();
    release();
    for (const verdict of await Promise.all(cards)) {
      expect(verdict.reason).toBe("signature-mismatch");
    }
    expect(looks.most).toBe(1);
  });

  it.each([
    ["compared with nothing", {}],
    ["compared with what is remembered", { memory: createCardMemory() }],
  ])("of many agents are %s in turns, too", async (_, more) => {
    const verifier = createCardVerifier({ keys: [key.public], ...more });
    const signature = await signText(canonicalCard(JSON.stringify(plainCard)), key);
    const text = JSON.stringify({ ...plainCard, signatures: [signature] });
    using looks = watchLooks();
    const cards = Array.from({ length: 20 }, (_, at) =>
      verifier.verify(text, { url: `https://agent-${at}.example.org/card.json` }),
    );
    for (const verdict of await Promise.all(cards)) expect(verdict.verified).toBe(true);
    expect(looks.most).toBe(1);
  });

  it("that wait for one do not keep one whose caller has gone", async () => {
    const { policy, asked, release } = heldKeySet();
    const stop = new AbortController();
    const text = await cardOf(1);
    const verifying = createCardVerifier(policy).verify(text, { url, signal: stop.signal });
    await asked;
    release();
    stop.abort(new Error("gone"));
    await expect(verifying).rejects.toThrow("gone");
  });
});

describe("a signature that does not fit", () => {
  it.each([
    [10, legacyProfiles],
    [5_000, []],
  ])("is looked for in other profiles in a card that is not large: of %i names", async (names, others) => {
    const forms = vi.spyOn(SignedCard.prototype, "forms");
    const verifier = createCardVerifier({ keys: [key.public] });
    const { reason, message } = await verifier.verify(await cardOf(names));
    expect(reason).toBe("signature-mismatch");
    expect(message).toContain("has not signed this card as it stands (profiles tried: strict)");
    expect(forms.mock.calls.map(([profile]) => profile)).toEqual(["strict", ...others]);
  });
});
