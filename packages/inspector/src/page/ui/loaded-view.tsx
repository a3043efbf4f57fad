import { signal } from "@preact/signals";
import type { ComponentType, JSX } from "preact";
import { explain, type Failure } from "../session/failure.ts";
import { FailureNotice } from "./notice.tsx";

/** A view whose code comes when it is first shown, or before by `preload`. */
export interface LoadedView<Props> {
  (props: Props): JSX.Element;
  preload(): void;
}

export function loadedView<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): LoadedView<Props> {
  const loaded = signal<{ readonly View: ComponentType<Props> } | undefined>(undefined);
  const failure = signal<Failure | undefined>(undefined);
  let isLoading = false;
  const preload = (): void => {
    if (isLoading) return;
    isLoading = true;
    load().then(
      (View) => {
        loaded.value = { View };
      },
      (error: unknown) => {
        isLoading = false; // the next one who looks tries again
        failure.value = explain(error);
      },
    );
  };
  return Object.assign(
    (props: Props): JSX.Element => {
      if (loaded.value !== undefined) return <loaded.value.View {...props} />;
      if (failure.value !== undefined)
        return (
          <div class="page">
            <div class="column">
              <FailureNotice failure={failure.value} />
              <button type="button" class="button" onClick={() => location.reload()}>
                Load the page again
              </button>
            </div>
          </div>
        );
      preload();
      return <div class="loading" role="status" aria-label="Loading the view" />;
    },
    { preload },
  );
}
