import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { Icon } from "./icon.tsx";

/** Copies a text, and says so. */
export function CopyButton({
  text,
  label,
}: {
  readonly text: () => string;
  readonly label: string;
}): JSX.Element {
  const copied = useSignal(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text());
    copied.value = true;
    setTimeout(() => {
      copied.value = false;
    }, 1_500);
  };
  return (
    <button type="button" class="button small quiet" onClick={() => void copy()} aria-live="polite">
      <Icon name={copied.value ? "check" : "copy"} />
      {copied.value ? "Copied" : label}
    </button>
  );
}
