import { type ReadonlySignal, signal } from "@preact/signals";

/** What the page shows. */
export type View = "talk" | "tasks" | "task" | "wires" | "card";

/** A view, and what of it: a task's id. */
export interface Route {
  readonly view: View;
  readonly subject: string;
}

const views: readonly View[] = ["talk", "tasks", "task", "wires", "card"];
const current = signal<Route>(readHash());

/** The route in the address: after its `#`, because the page does not know the path that it is served at. */
export const route: ReadonlySignal<Route> = current;

addEventListener("hashchange", () => {
  current.value = readHash();
});

function readHash(): Route {
  const [, name = "", subject = ""] = location.hash.split("/");
  const view = views.find((each) => each === name) ?? "talk";
  return { view, subject: decode(subject) };
}

function decode(subject: string): string {
  try {
    return decodeURIComponent(subject);
  } catch {
    return subject; // typed by hand
  }
}

/** The address of a view. */
export function linkTo(view: View, subject = ""): string {
  return subject === "" ? `#/${view}` : `#/${view}/${encodeURIComponent(subject)}`;
}
