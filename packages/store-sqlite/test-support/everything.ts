import { alice } from "@a2a-connect/testing";

/** The first page of a list of all tasks of alice. */
export const everything = {
  owner: alice,
  contextId: undefined,
  state: undefined,
  since: undefined,
  after: undefined,
  limit: 10,
  maxBytes: 4 * 2 ** 20,
  view: "summary",
} as const;
