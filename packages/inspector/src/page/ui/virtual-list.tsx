import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** Rows beyond what is in sight, so that a scroll finds them. */
const margin = 12;

/** Browsers give up on elements that are higher than some millions of pixels. */
const maxHeight = 8_000_000;

/** Rows of one height, of which only those in sight are elements: a list of a hundred thousand is as quick as one of ten. */
export function VirtualList({
  count,
  rowHeight,
  label,
  selected,
  followsEnd,
  onSelect,
  renderRow,
}: {
  readonly count: number;
  readonly rowHeight: number;
  readonly label: string;
  readonly selected: number | undefined;
  /** Whether the end stays in sight while rows are added. */
  readonly followsEnd: boolean;
  readonly onSelect: (index: number) => void;
  readonly renderRow: (index: number) => JSX.Element;
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const scrolled = useSignal(0);
  const height = useSignal(400);
  const full = count * rowHeight;
  const total = Math.min(full, maxHeight);
  /** Rows by pixel of the scroll bar: one that is too high for the browser is compressed. */
  const scale = total > height.value ? (full - height.value) / (total - height.value) : 1;
  const top = scrolled.value * scale;
  const first = Math.max(0, Math.floor(top / rowHeight) - margin);
  const last = Math.min(count, Math.ceil((top + height.value) / rowHeight) + margin);

  useEffect(() => {
    const { current } = box;
    if (current === null) return undefined;
    const observer = new ResizeObserver(() => {
      height.value = current.clientHeight;
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, [height]);
  useEffect(() => {
    if (followsEnd && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [followsEnd, count]);
  useEffect(() => {
    const { current } = box;
    if (current === null || selected === undefined) return;
    const at = selected * rowHeight;
    if (at < top || at + rowHeight > top + height.value) {
      current.scrollTop = Math.max(0, (at - height.value / 2) / scale);
    }
  }, [selected]);

  const move = (to: number): void => onSelect(Math.max(0, Math.min(count - 1, to)));
  const keys: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: 20,
    PageUp: -20,
    Home: -count,
    End: count,
  };
  return (
    <div
      ref={box}
      class="virtual"
      role="listbox"
      aria-label={label}
      aria-activedescendant={selected === undefined ? undefined : `row-${selected}`}
      tabIndex={0}
      onScroll={({ currentTarget }) => {
        scrolled.value = currentTarget.scrollTop;
      }}
      onKeyDown={(event) => {
        const step = keys[event.key];
        if (step === undefined) return;
        event.preventDefault();
        move((selected ?? -1) + step);
      }}
    >
      <div style={{ height: `${total}px`, position: "relative" }}>
        {Array.from({ length: Math.max(0, last - first) }, (_, offset) => {
          const index = first + offset;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys
            // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus, and says which option is active
            <div
              key={index}
              id={`row-${index}`}
              role="option"
              aria-selected={index === selected}
              class="virtual-row"
              style={{ height: `${rowHeight}px`, top: `${index * rowHeight - top + scrolled.value}px` }}
              onClick={() => onSelect(index)}
            >
              {renderRow(index)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
