import { describe, expect, it } from "vitest";
import { InvalidResponseError } from "../errors.ts";
import { createPages } from "./pages.ts";

/** Pages whose tokens are these, one after the other; each page holds the token that it was asked with. */
function pagesOf(tokens: readonly string[], firstToken?: string) {
  let asked = 0;
  return createPages(
    async (token) => ({ page: [token], nextPageToken: tokens[asked++] ?? "" }),
    (page) => page,
    firstToken,
  );
}

async function walk(items: AsyncIterable<string>): Promise<{ items: string[]; error: unknown }> {
  const seen: string[] = [];
  try {
    for await (const item of items) {
      seen.push(item);
      expect(seen.length, "the list has no end").toBeLessThan(100);
    }
  } catch (error) {
    return { items: seen, error };
  }
  return { items: seen, error: undefined };
}

describe("the pages of a list", () => {
  it("end where no token comes", async () => {
    expect(await walk(pagesOf(["a", "b"]))).toEqual({ items: ["", "a", "b"], error: undefined });
  });

  for (const [what, tokens, firstToken, items] of [
    ["twice in a row", ["a", "a", "a"], undefined, ["", "a"]],
    ["in turn with another", ["a", "b", "a", "b", "a"], undefined, ["", "a", "b"]],
    ["that it began with", ["b", "c", "a", "b"], "a", ["a", "b", "c"]],
  ] as const) {
    it(`end with an error when the agent gives a token ${what}`, async () => {
      const { items: seen, error } = await walk(pagesOf(tokens, firstToken));
      expect(seen).toEqual(items);
      expect(error).toBeInstanceOf(InvalidResponseError);
      expect(error).toMatchObject({ hint: expect.stringMatching(/\S+ \S+/) });
    });
  }

  it("have tokens of which a megabyte is remembered, and always the last", async () => {
    const [a, b, c, long] = [..."abcd"].map((letter) => letter.repeat(600_000)) as [
      string,
      string,
      string,
      string,
    ];
    expect((await walk(pagesOf([a, b, c, a]))).error).toBeUndefined(); // forgotten by then
    expect((await walk(pagesOf([long.repeat(4), long.repeat(4)]))).error).toBeInstanceOf(
      InvalidResponseError,
    );
  });

  /** Reads pages of which every so many has an item, the others none; tells how many were asked for. */
  async function readEmpty(count: number, itemEvery: number): Promise<number> {
    let asked = 0;
    const { pages } = createPages(
      async () => {
        asked += 1;
        return {
          page: asked % itemEvery === 0 ? ["item"] : [],
          nextPageToken: asked < count ? `${asked}` : "",
        };
      },
      (page) => page,
    );
    try {
      for await (const _ of pages());
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidResponseError);
      expect(error).toMatchObject({ message: expect.stringContaining("1,000 empty pages") });
    }
    return asked;
  }

  it("end with an error when 1,000 in a row are empty", async () => {
    expect(await readEmpty(1_200, 2_000)).toBe(1_000);
    expect(await readEmpty(1_000, 2_000)).toBe(1_000); // the last one ends the list by itself
    expect(await readEmpty(5_000, 1_000)).toBe(5_000);
  });

  it("may be many", async () => {
    const tokens = Array.from({ length: 5_000 }, (_, index) => `page ${index}`);
    let pages = 0;
    for await (const _ of pagesOf(tokens).pages()) pages++;
    expect(pages).toBe(5_001);
  });
});
