import type { Pages } from "../agent-client.ts";
import { InvalidResponseError } from "../errors.ts";

/** One page, and where the next one begins; `""` after the last. */
export interface FetchedPage<Page> {
  readonly page: Page;
  readonly nextPageToken: string;
}

/**
 * All items of a list. Each page is fetched when the one before is used up.
 *
 * @param itemsOf returns the items of a page
 * @throws InvalidResponseError (from the iteration) when a server returns a token twice, which would never end, or too many empty pages
 */
export function createPages<Item, Page>(
  fetchPage: (pageToken: string) => Promise<FetchedPage<Page>>,
  itemsOf: (page: Page) => Iterable<Item>,
  firstToken = "",
): Pages<Item, Page> {
  async function* pages(): AsyncGenerator<Page, void> {
    const seen = new Set<string>();
    let token = firstToken;
    let empty = 0;
    do {
      remember(seen, token);
      const { page, nextPageToken } = await fetchPage(token);
      yield page;
      if (nextPageToken !== "" && seen.has(nextPageToken)) {
        throw endless("The agent returned the same page token twice: the list would never end.");
      }
      const [first] = itemsOf(page);
      empty = first === undefined ? empty + 1 : 0;
      if (nextPageToken !== "" && empty === maxEmpty) {
        throw endless("The agent returned 1,000 empty pages in a row: the list may never end.");
      }
      token = nextPageToken;
    } while (token !== ""); // requirement A-42
  }
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) {
        yield* itemsOf(page);
      }
    },
  };
}

function endless(message: string): InvalidResponseError {
  const hint = "What came so far may be incomplete. Tell the operator of the agent.";
  return new InvalidResponseError(message, { hint });
}

/** Empty pages in a row: an agent that filters its tasks page by page may return many. */
const maxEmpty = 1_000;

/** How many tokens are remembered: enough to detect any accidental circle, and not much memory for a long list. */
const maxSeen = 1_000;

/** The same in characters, beside the newest token: a server may send one of 64 MiB with each page. */
const maxCharacters = 2 ** 20;

function remember(seen: Set<string>, token: string): void {
  seen.add(token);
  let characters = [...seen].reduce((sum, each) => sum + each.length, 0);
  for (const oldest of seen) {
    if ((seen.size <= maxSeen && characters <= maxCharacters) || oldest === token) break;
    seen.delete(oldest);
    characters -= oldest.length;
  }
}
