import { signal } from "@preact/signals";
import type { JSX } from "preact";
import type { LaterViews } from "./later-views.ts";
import { explain, type Failure } from "./session/failure.ts";
import { FailureNotice } from "./ui/notice.tsx";

const loaded = signal<{ readonly views?: LaterViews; readonly failure?: Failure }>({});
let isLoading = false;

/** Loads the views that the first screen does not need. */
export function loadViews(): void {
  if (isLoading) return;
  isLoading = true;
  import("./later-views.ts").then(
    ({ laterViews: views }) => {
      loaded.value = { views };
    },
    (error: unknown) => {
      loaded.value = { failure: explain(error) };
    },
  );
}

/** One of these views, when they are there. */
export function LaterView({
  children,
}: {
  readonly children: (views: LaterViews) => JSX.Element;
}): JSX.Element {
  const { views, failure } = loaded.value;
  if (views !== undefined) return children(views);
  if (failure === undefined) {
    loadViews();
    return <div class="loading" role="status" aria-label="Loading the view" />;
  }
  return (
    <div class="page">
      <div class="column">
        <FailureNotice failure={failure} />
        <button type="button" class="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </div>
    </div>
  );
}
