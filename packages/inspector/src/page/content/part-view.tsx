import { toJsonValue } from "@a2a-connect/core/internal";
import type { Part } from "@a2a-connect/proto";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { addPieces, type Piece } from "../talk/task-fold.ts";
import { TextBlocks } from "../talk/text-blocks.ts";
import { Icon } from "../ui/icon.tsx";
import { DataTable, findRows } from "./data-table.tsx";
import { save } from "./download.ts";
import { JsonTree } from "./json-tree.tsx";
import { LinkText } from "./link-text.tsx";
import { formatBytes, shownLine } from "./shown.ts";
import { TextView } from "./text-view.tsx";

/** Kinds of image that cannot hold a program or load anything, and are shown from their bytes. */
const images = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"];
const audio = ["audio/mpeg", "audio/ogg", "audio/wav", "audio/webm", "audio/mp4", "audio/flac", "audio/aac"];
const maxShownBytes = 16 * 2 ** 20;

/** Parts of a message or an artifact, each as what it is. */
export function Parts({ parts }: { readonly parts: readonly Part[] }): JSX.Element {
  const pieces: Piece[] = [];
  addPieces(pieces, parts);
  return <Pieces pieces={pieces} version={0} />;
}

/** The same, of pieces that may still grow. */
export function Pieces({
  pieces,
  isGrowing = false,
}: {
  readonly pieces: readonly Piece[];
  /** Changes with what is in the pieces. */
  readonly version: number;
  readonly isGrowing?: boolean;
}): JSX.Element {
  return (
    <>
      {pieces
        .slice(-maxPieces)
        .map((piece, index) =>
          piece.is === "text" ? (
            <TextView
              key={index}
              text={piece.text}
              length={piece.text.length}
              mediaType={piece.mediaType}
              isGrowing={isGrowing && index === pieces.length - 1}
            />
          ) : (
            <PartView key={index} part={piece.part} />
          ),
        )}
      {pieces.length > maxPieces ? (
        <p class="muted">{pieces.length - maxPieces} earlier parts are not shown.</p>
      ) : null}
    </>
  );
}

/** Parts that are shown of one artifact. */
const maxPieces = 100;

function PartView({ part }: { readonly part: Part }): JSX.Element {
  const { content, filename, mediaType } = part;
  switch (content.case) {
    case "text": {
      const text = new TextBlocks();
      text.append(content.value);
      return (
        <figure class="file">
          <figcaption>{shownLine(filename, 100)}</figcaption>
          <TextView text={text} length={text.length} mediaType={mediaType} name={filename} />
        </figure>
      );
    }
    case "data": {
      const value = toJsonValue(content.value);
      const rows = findRows(value);
      return rows === undefined ? (
        <div class="json">
          <JsonTree value={value} />
        </div>
      ) : (
        <DataTable rows={rows} />
      );
    }
    case "url":
      return (
        <p class="file-line">
          <span class="tag">{shownLine(mediaType || "link", 60)}</span>{" "}
          <LinkText url={content.value} label={filename} />
          <span class="muted"> (not loaded)</span>
        </p>
      );
    case "raw":
      return <Bytes bytes={content.value} filename={filename} mediaType={mediaType} />;
    case undefined:
      return <p class="muted">A part without content.</p>;
  }
}

function Bytes({
  bytes,
  filename,
  mediaType,
}: {
  readonly bytes: Uint8Array;
  readonly filename: string;
  readonly mediaType: string;
}): JSX.Element {
  const [type = ""] = mediaType.toLowerCase().split(";");
  const isShown = bytes.length <= maxShownBytes && (images.includes(type) || audio.includes(type));
  const name = filename === "" ? "file" : filename;
  const content = bytes as Uint8Array<ArrayBuffer>; // no bytes of a message are shared memory
  const url = useMemo(
    () => (isShown ? URL.createObjectURL(new Blob([content], { type })) : undefined),
    [isShown, content, type],
  );
  useEffect(
    () => () => {
      if (url !== undefined) URL.revokeObjectURL(url);
    },
    [url],
  );
  return (
    <figure class="file">
      {url === undefined ? null : images.includes(type) ? (
        <img
          src={url}
          alt={shownLine(name, 100)}
          onError={({ currentTarget }) => {
            currentTarget.style.display = "none"; // these bytes are no image
          }}
        />
      ) : (
        // biome-ignore lint/a11y/useMediaCaption: an agent's audio comes without one
        <audio controls src={url} />
      )}
      <figcaption>
        <span>{shownLine(name, 100)}</span>
        <span class="muted">
          {shownLine(mediaType || "bytes", 60)} · {formatBytes(bytes.length)}
        </span>
        <button type="button" class="button small quiet" onClick={() => save(name, [content])}>
          <Icon name="download" />
          Download
        </button>
      </figcaption>
    </figure>
  );
}
