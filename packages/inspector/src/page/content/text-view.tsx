import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { TextBlocks } from "../talk/text-blocks.ts";
import { Icon } from "../ui/icon.tsx";
import { DataTable } from "./data-table.tsx";
import { save } from "./download.ts";
import { Markdown } from "./markdown.tsx";
import { parseCsv } from "./parse-csv.ts";
import { formatBytes, shown } from "./shown.ts";

/** Longest text that is read as Markdown or as a table: it is read anew for each frame. */
const maxFormatted = 24_000;

const markdownSigns = /^#{1,6} |^```|\*\*\S|^[ \t]*[-*] \S|^\|.*\|$|\[[^[\]\n]+\]\(http/m;

/** A text of an agent, formatted where that is what it is, and in pages when it is long. */
export function TextView({
  text,
  mediaType,
  isGrowing = false,
  name = "text.txt",
}: {
  readonly text: TextBlocks;
  /** The text's length: it changes when the text has grown. */
  readonly length: number;
  readonly mediaType: string;
  /** Whether more of it may come: then the end is shown. */
  readonly isGrowing?: boolean;
  readonly name?: string;
}): JSX.Element {
  const isRaw = useSignal(false);
  const isTable = mediaType.startsWith("text/csv");
  const isMarkdown =
    mediaType.startsWith("text/markdown") || (mediaType === "" && markdownSigns.test(text.blocks[0] ?? ""));
  const isFormatted = (isTable || isMarkdown) && text.length <= maxFormatted;
  if (!isFormatted && text.blocks.length > 1) {
    return <PagedText text={text} length={text.length} isGrowing={isGrowing} name={name} />;
  }
  const whole = text.toString();
  if (!isFormatted) return <PlainText text={whole} isGrowing={isGrowing} />;
  return (
    <div class="formatted">
      {isRaw.value ? (
        <PlainText text={whole} isGrowing={isGrowing} />
      ) : isTable ? (
        <CsvTable text={whole} />
      ) : (
        <Markdown text={shown(whole)} />
      )}
      <button
        type="button"
        class="link corner"
        onClick={() => {
          isRaw.value = !isRaw.value;
        }}
      >
        {isRaw.value ? "Formatted" : "As text"}
      </button>
    </div>
  );
}

function CsvTable({ text }: { readonly text: string }): JSX.Element {
  const rows = parseCsv(text);
  return rows === undefined ? <PlainText text={text} isGrowing={false} /> : <DataTable rows={rows} />;
}

function PlainText({ text, isGrowing }: { readonly text: string; readonly isGrowing: boolean }): JSX.Element {
  return (
    <div class={isGrowing ? "text-box is-growing" : "text-box"} tabIndex={text.length > 1_000 ? 0 : -1}>
      <pre class="text">{shown(text)}</pre>
    </div>
  );
}

const blocksOfPage = 4;

/** A long text, a few blocks at a time, and while it grows the last one: a text of any length is as quick as a short one. */
function PagedText({
  text,
  isGrowing,
  name,
}: {
  readonly text: TextBlocks;
  readonly length: number;
  readonly isGrowing: boolean;
  readonly name: string;
}): JSX.Element {
  const chosen = useSignal<number | undefined>(undefined);
  const last = Math.ceil(text.blocks.length / blocksOfPage) - 1;
  const isAtEnd = isGrowing && chosen.value === undefined;
  const page = isAtEnd ? last : (chosen.value ?? 0);
  const blocks = isAtEnd
    ? text.blocks.slice(-1)
    : text.blocks.slice(page * blocksOfPage, (page + 1) * blocksOfPage);
  const go = (to: number) => () => {
    chosen.value = Math.max(0, Math.min(last, to));
  };
  return (
    <div class="paged">
      <PlainText text={blocks.join("")} isGrowing={isAtEnd} />
      <div class="pager">
        <button type="button" class="button small quiet" onClick={go(page - 1)} disabled={page === 0}>
          Earlier
        </button>
        <span class="muted">
          Page {page + 1} of {last + 1} · {formatBytes(text.length)}
        </span>
        <button type="button" class="button small quiet" onClick={go(page + 1)} disabled={page === last}>
          Later
        </button>
        <button
          type="button"
          class="button small quiet"
          onClick={() => save(name, [text.toString()], "text/plain")}
        >
          <Icon name="download" />
          Download
        </button>
      </div>
    </div>
  );
}
