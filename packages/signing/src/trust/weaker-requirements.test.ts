import { describe, expect, it } from "vitest";
import { findDowngrades } from "./downgrade.ts";
import type { Outline, OutlinedSkill, Requirement } from "./outline.ts";
import { undeclaredScheme } from "./scheme.ts";
import { findWeakerRequirements } from "./weaker-requirements.ts";

/** Counts what is read of a card, and stops whoever reads more than may be. */
class Fuse {
  reads = 0;
  size = 0;

  /** Each part of the cards may be read so often; the rest is what comparisons may cost whatever is compared. */
  count(): void {
    this.reads++;
    if (this.reads > 20 * this.size + 2_000_000) {
      throw new Error(`${this.reads} reads of cards with ${this.size} parts`);
    }
  }

  *each<Item>(items: Iterable<Item>): MapIterator<Item> {
    for (const item of items) {
      this.count();
      yield item;
    }
  }

  set(items: readonly string[]): ReadonlySet<string> {
    return new CountedSet(this, items);
  }

  map<Value>(entries: readonly [string, Value][]): ReadonlyMap<string, Value> {
    return new CountedMap(this, entries);
  }
}

class CountedMap<Value> extends Map<string, Value> {
  readonly fuse: Fuse;

  constructor(fuse: Fuse, entries: readonly [string, Value][]) {
    super();
    this.fuse = fuse;
    for (const [name, value] of entries) super.set(name, value);
    fuse.size += 1 + entries.length;
  }

  override get(name: string): Value | undefined {
    this.fuse.count();
    return super.get(name);
  }

  override has(name: string): boolean {
    this.fuse.count();
    return super.has(name);
  }

  override keys(): MapIterator<string> {
    return this.fuse.each(super.keys());
  }

  override values(): MapIterator<Value> {
    return this.fuse.each(super.values());
  }

  override entries(): MapIterator<[string, Value]> {
    return this.fuse.each(super.entries());
  }

  override [Symbol.iterator](): MapIterator<[string, Value]> {
    return this.fuse.each(super.entries());
  }
}

class CountedSet extends Set<string> {
  readonly fuse: Fuse;

  constructor(fuse: Fuse, items: readonly string[]) {
    super();
    this.fuse = fuse;
    for (const item of items) super.add(item);
    fuse.size += 1 + items.length;
  }

  override has(item: string): boolean {
    this.fuse.count();
    return super.has(item);
  }

  override [Symbol.iterator](): SetIterator<string> {
    return this.fuse.each(super.values());
  }
}

const many = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

const fuse = (): Fuse => new Fuse();
const needs = (of: Fuse, ...names: string[]): Requirement =>
  of.map(names.map((name) => [name, of.set([])] as [string, ReadonlySet<string>]));
const needsScopes = (of: Fuse, name: string, ...scopes: string[]): Requirement =>
  of.map([[name, of.set(scopes)]]);

const card = (
  requirements: readonly Requirement[],
  { skills = [], schemes = new Map() }: Partial<Pick<Outline, "skills" | "schemes">> = {},
): Outline => ({ name: "", version: "", interfaces: [], schemes, requirements, skills });
const skill = (id: string, ...requirements: Requirement[]): OutlinedSkill => ({ id, requirements });

describe("cards that are made to be hard to compare", () => {
  const tooManyRequirements = "There are too many requirements to be compared with those before.";
  for (const [what, make] of [
    [
      "one alternative of many schemes, then many of one",
      (of) => [card([needs(of, ...many("s", 60_000))]), card(many("x", 200).map((name) => needs(of, name)))],
    ],
    [
      "many alternatives of one scheme, then one of many",
      (of) => [card(many("x", 200).map((name) => needs(of, name))), card([needs(of, ...many("s", 60_000))])],
    ],
    [
      "many scopes, then many alternatives",
      (of) => [
        card([needsScopes(of, "a", ...many("s", 60_000))]),
        card(many("x", 200).map((scope) => needsScopes(of, "a", scope))),
      ],
    ],
    [
      "many alternatives, each of many schemes",
      (of) => [
        card(many("a", 140).map((name) => needs(of, ...many(name, 40)))),
        card(many("b", 140).map((name) => needs(of, ...many(name, 40)))),
      ],
    ],
    [
      "many alternatives of some scopes, whose schemes could stand for others",
      (of) => {
        const alternatives = (prefix: string, strength: 3 | 5) => {
          const names = many(prefix, 8);
          return card(
            many("", 200).map((index) =>
              of.map(
                names.map((name) => [name, of.set(many(index + name, 30))] as const).map(([n, s]) => [n, s]),
              ),
            ),
            { schemes: of.map(names.map((name) => [name, { ...undeclaredScheme, strength }])) },
          );
        };
        return [alternatives("a", 3), alternatives("b", 5)];
      },
    ],
    [
      "more alternatives than a card has",
      (of) => [
        card(many("a", 3_000).map((name) => needs(of, name))),
        card(many("b", 3_000).map((name) => needs(of, name))),
      ],
    ],
    [
      "many skills that have their own requirements no longer, but those of a card with many schemes",
      (of) => [
        card([], { skills: many("s", 200).map((id) => skill(id, needs(of, "a"))) }),
        card([needs(of, ...many("s", 30_000))], { skills: many("s", 200).map((id) => skill(id)) }),
      ],
    ],
    [
      "many skills that have their own requirements no longer, but those of a card with many alternatives",
      (of) => {
        const alternatives = many("x", 3_000).map((name) => needs(of, "a", name));
        const skills = many("s", 5_000);
        return [
          card(alternatives, { skills: skills.map((id) => skill(id, needs(of, "b"))) }),
          card(alternatives, { skills: skills.map((id) => skill(id)) }),
        ];
      },
    ],
  ] satisfies [string, (of: Fuse) => [Outline, Outline]][]) {
    it(`are refused with one finding and little work: ${what}`, () => {
      const of = fuse();
      const [before, after] = make(of);
      const found = findWeakerRequirements(before, after);
      expect(found.map(({ text }) => text)).toEqual([tooManyRequirements]);
    });
  }

  it("are compared as far as they have not changed, whatever their size", () => {
    const of = fuse();
    const make = () => {
      const skills = many("s", 3_000).map((id) => skill(id, needs(of, id), needs(of)));
      const alternatives = many("x", 3_000).map((name) => needs(of, name));
      return card([...alternatives, needs(of, ...many("s", 30_000))], { skills });
    };
    expect(findWeakerRequirements(make(), make())).toEqual([]);
  });

  it("are compared where that is little work, though many alternatives are the same or many skills have changed", () => {
    const of = fuse();
    const same = Array.from({ length: 200 }, () => needs(of, "x"));
    expect(findWeakerRequirements(card([needs(of, ...many("s", 60_000))]), card(same))).toEqual([
      {
        text: expect.stringMatching(/^Callers are let in with "x", without .* and 59995 more\.$/),
        path: "securityRequirements[0]",
      },
    ]);
    const skills = (...names: string[]) => many("s", 3_000).map((id) => skill(id, needs(of, ...names)));
    const [one, two] = [card([], { skills: skills("a") }), card([], { skills: skills("a", "b") })];
    expect(findWeakerRequirements(one, two)).toEqual([]);
    expect(findWeakerRequirements(two, one)).toHaveLength(3_000);
  });

  it("are read once, however many skills have the requirements of the card", () => {
    const of = fuse();
    const skills = many("s", 1_000);
    const before = card([], { skills: skills.map((id) => skill(id, needs(of))) });
    const after = card([needs(of, ...many("x", 30_000))], { skills: skills.map((id) => skill(id)) });
    expect(findWeakerRequirements(before, after)).toEqual([]);
  });

  it("may have very many schemes", () => {
    const declare = (prefix: string) => ({
      securitySchemes: Object.fromEntries(
        many(prefix, 20_000).map((name) => [name, { httpAuthSecurityScheme: { scheme: name } }]),
      ),
    });
    expect(findDowngrades(declare("a"), declare("b"))).toHaveLength(20_000);
    expect(findDowngrades(declare("a"), {})).toHaveLength(20_000);
  });
});
