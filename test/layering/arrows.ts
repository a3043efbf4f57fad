/**
 * Who may import whom: the one place where the arrows of docs/architecture.md stand as data.
 *
 * A room may import the rooms it names here and, through them, everything to the left of those. Rooms of one layer do
 * not import each other.
 */

/** Arrows from each room to its nearest neighbours on the left. */
export type Arrows = Readonly<Record<string, readonly string[]>>;

/** Arrows between the workspace's packages, by folder. `store-*` stands for every store. */
export const packageArrows: Arrows = {
  gen: [],
  core: ["gen"],
  bindings: ["core"],
  signing: ["core"],
  auth: ["core"],
  client: ["bindings", "signing", "auth"],
  server: ["bindings", "signing", "auth"],
  node: ["client", "server", "store-*"],
  "store-*": ["client", "server"],
  testing: ["node", "store-*"],
  cli: ["node", "store-*"],
  "a2a-connect": ["cli"],
  conformance: ["bindings", "signing"],
  inspector: ["client", "signing"],
  "examples/*": ["testing", "conformance", "cli", "inspector"],
  bench: ["testing", "conformance", "cli", "inspector", "examples/*"],
  test: ["testing", "conformance", "cli", "inspector", "examples/*"],
};

/** Arrows that only a dynamic `import()` may take, or one of types alone, so that the importer starts without them. */
export const lazyArrows: Arrows = {
  cli: ["conformance", "inspector"],
  node: ["inspector"],
  inspector: ["conformance"],
};

/** What the tests of any package may import besides, with nothing behind it. */
export const testArrows: readonly string[] = ["testing", "node"];

/** Packages that run on every runtime: web standards only, no `node:` outside their tests. */
export const runtimeNeutral: readonly string[] = ["core", "bindings", "signing", "auth", "client", "server"];

/**
 * Arrows between the folders of packages/server/src. The files beside them are `agent-server`, which puts everything
 * together; `index` shows what of all that is public.
 */
export const serverArrows: Arrows = {
  store: [],
  agent: [],
  gates: [],
  engine: ["store", "agent"],
  push: ["engine"],
  reach: ["engine"],
  documents: [],
  card: ["reach", "documents"],
  operations: ["engine", "gates", "push", "card"],
  "agent-server": ["operations"],
  host: ["agent-server"],
  "js-sdk": ["agent"],
  mount: ["agent-server"],
  index: ["host", "mount"],
};

/** Every room to the left of `room`. `store-*` and `examples/*` match any room with that beginning. */
export function roomsLeftOf(arrows: Arrows, room: string): ReadonlySet<string> {
  const left = new Set<string>();
  const pending = [...(arrows[generalize(arrows, room) ?? ""] ?? [])];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (!left.has(next)) {
      left.add(next);
      pending.push(...(arrows[next] ?? []));
    }
  }
  return left;
}

/** The name under which the arrows know a room: itself or a pattern; undefined when they do not know it. */
export function generalize(arrows: Arrows, room: string): string | undefined {
  return Object.keys(arrows).find((name) =>
    name.endsWith("*") ? room.startsWith(name.slice(0, -1)) : room === name,
  );
}
