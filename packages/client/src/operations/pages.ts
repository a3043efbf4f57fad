import type { Pages } from "../agent-client.ts";

/** One page, and where the next one begins; `""` after the last. */
export interface FetchedPage<Page> {
  readonly page: Page;
  readonly nextPageToken: string;
}

/**
 * Everything that a list has, page by page, each asked for when the one before is used up.
 *
 * @param itemsOf what is in a page
 * @throws Error when a server answers with the token that it was asked with, which would never end
 */
export function createPages<Item, Page>(
  fetchPage: (pageToken: string) => Promise<FetchedPage<Page>>,
  itemsOf: (page: Page) => Iterable<Item>,
  firstToken = "",
): Pages<Item, Page> {
  async function* pages(): AsyncGenerator<Page, void> {
    let token = firstToken;
    do {
      const { page, nextPageToken } = await fetchPage(token);
      yield page;
      if (nextPageToken !== "" && nextPageToken === token) {
        throw new Error("the agent gave out the same page token twice: the list would never end");
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
