import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { linkTo } from "../route.ts";
import { Icon } from "../ui/icon.tsx";

/** The file that was opened last. */
export const openedFile: Signal<File | undefined> = signal<File | undefined>(undefined);

/** Opens a file with a task's log; no server is asked for anything. */
export function OpenLogButton(): JSX.Element {
  return (
    <label class="button small quiet">
      <Icon name="task" />
      Open a log
      <input
        class="hidden"
        type="file"
        accept=".jsonl"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          event.currentTarget.value = "";
          if (file === undefined) return;
          openedFile.value = file;
          location.hash = linkTo("task");
        }}
      />
    </label>
  );
}
