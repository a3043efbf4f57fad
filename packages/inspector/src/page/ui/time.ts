import { type ReadonlySignal, signal } from "@preact/signals";

const second = signal(Date.now());
setInterval(() => {
  if (!document.hidden) second.value = Date.now();
}, 1_000);

/** The time, every second: for views that say how long ago something was. */
export const now: ReadonlySignal<number> = second;

/** `340 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1_000) return `${whole} ms`;
  if (whole < 10_000) return `${(whole / 1_000).toFixed(1)} s`;
  const seconds = Math.round(whole / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return join(minutes, "min", seconds % 60, "s");
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? join(hours, "h", minutes % 60, "min")
    : join(Math.floor(hours / 24), "d", hours % 24, "h");
}

function join(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hour12: false,
});

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

/** The time of day, to the millisecond. */
export function formatTime(ms: number): string {
  return clock.format(ms);
}

/** The day and the time. */
export function formatDateTime(ms: number): string {
  return `${day.format(ms)}, ${clock.format(ms)}`;
}
