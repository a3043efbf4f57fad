import { describe, expect, it } from "vitest";
import { createPeople } from "./people.ts";
import { foldText } from "./plain-text.ts";
import { predicateOf } from "./predicates.ts";

describe("a name", () => {
  const people = createPeople(["Tomás Herrera", "Anna Berg", "Anna Kowalska", "Ellen", "Anna Berg"]);

  it.each([
    ["Tomás", "Tomás Herrera"],
    ["tomas", "Tomás Herrera"],
    ["Anna Berg", "Anna Berg"],
    ["Ellen", "Ellen"],
    ["Clara", "Clara"],
    ["Anna", undefined],
    ["__proto__", "__proto__"],
  ])("is somebody's: %s", (name, whole) => expect(people.resolve(name)).toBe(whole));
});

describe("a value", () => {
  it.each([
    ["birthday", "March 14", "03-14"],
    ["birthday", "the 14th of March", "03-14"],
    ["birthday", "2nd December", "12-02"],
    ["takes_place_on", "09-18", "09-18"],
    ["works_at", "Northwind Labs Ltd.", "Northwind Labs"],
    ["works_at", "Forma GmbH", "Forma"],
    ["budget", "4,000 euros", "4000 euros"],
    ["phone", "0113 496 0007", "01134960007"],
    ["email", "Ellen@Example.org", "ellen@example.org"],
    ["favourite_food", "Jollof Rice", "jollof rice"],
    ["what nobody knows", "  as it  was said ", "as it was said"],
  ])("has one form, and keeps it: %s %s", (predicate, said, kept) => {
    const { canonical } = predicateOf(predicate);
    expect(canonical(said)).toBe(kept);
    expect(canonical(kept)).toBe(kept);
  });

  it.each(["constructor", "__proto__", "toString"])("may be of any predicate: %s", (predicate) => {
    expect(predicateOf(predicate).holds).toBe("many");
  });
});

it("a letter that stands for a whole sentence folds to itself: names of hundreds of them cost no more than others", () => {
  expect(foldText("\uFDFA".repeat(100))).toHaveLength(100);
});
