import type { JSX } from "preact";

/** One path for each picture, in a square of 20. */
const paths = {
  talk: "M3.5 5.8A2.3 2.3 0 0 1 5.8 3.5h8.4a2.3 2.3 0 0 1 2.3 2.3v5.4a2.3 2.3 0 0 1-2.3 2.3H9l-3.8 3v-3.1a2.3 2.3 0 0 1-1.7-2.2Z",
  tasks: "M4 5h.01M4 10h.01M4 15h.01M7.5 5H16M7.5 10H16M7.5 15H16",
  task: "M4 4v12M4 6.5h7M4 10h11M4 13.5h5",
  card: "M3.5 5.5a1.5 1.5 0 0 1 1.5-1.5h10a1.5 1.5 0 0 1 1.5 1.5v9a1.5 1.5 0 0 1-1.5 1.5H5a1.5 1.5 0 0 1-1.5-1.5ZM6.5 8h3M6.5 11h7M6.5 13.5h5",
  wires: "M3.5 7h10m0 0-3-3m3 3-3 3M16.5 13h-10m0 0 3-3m-3 3 3 3",
  send: "M4 10h11m0 0-4.5-4.5M15 10l-4.5 4.5",
  attach: "M14.8 9.2 9.6 14.4a3 3 0 0 1-4.3-4.3l5.6-5.5a2 2 0 0 1 2.9 2.8l-5.4 5.4a1 1 0 0 1-1.4-1.4l4.7-4.7",
  stop: "M6.5 6.5h7v7h-7z",
  cut: "M6 6.5a2 2 0 1 1-4 0 2 2 0 0 1 4 0Zm0 7a2 2 0 1 1-4 0 2 2 0 0 1 4 0ZM5.5 7.8 17 15M5.5 12.2 17 5",
  again: "M15.5 8.5A6 6 0 1 0 16 11m0-6.5v4h-4",
  download: "M10 3.5v9m0 0-3.5-3.5m3.5 3.5 3.5-3.5M4 16h12",
  copy: "M7.5 7.5V5A1.5 1.5 0 0 1 9 3.5h6A1.5 1.5 0 0 1 16.5 5v6a1.5 1.5 0 0 1-1.5 1.5h-2.5M5 7.5h6A1.5 1.5 0 0 1 12.5 9v6a1.5 1.5 0 0 1-1.5 1.5H5A1.5 1.5 0 0 1 3.5 15V9A1.5 1.5 0 0 1 5 7.5Z",
  close: "m5.5 5.5 9 9m0-9-9 9",
  light:
    "M10 3v1.5M10 15.5V17M3 10h1.5M15.5 10H17M5.05 5.05l1.06 1.06M13.9 13.9l1.05 1.05M5.05 14.95l1.06-1.06M13.9 6.1l1.05-1.05M13 10a3 3 0 1 1-6 0 3 3 0 0 1 6 0Z",
  dark: "M16 11.7A6.5 6.5 0 0 1 8.3 4 6.5 6.5 0 1 0 16 11.7Z",
  check: "m4.5 10.5 3.5 3.5 7.5-8",
  key: "M12.5 12a4 4 0 1 0-3.8-2.8L3.5 14.4v2.1h2.6v-1.9H8v-1.9l1.2-1.2c.9.4 2 .5 3.3.5ZM13 7.5h.01",
  chevron: "m7.5 5 5 5-5 5",
} as const;

export type IconName = keyof typeof paths;

/** A picture beside a word that says the same; screen readers skip it. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
