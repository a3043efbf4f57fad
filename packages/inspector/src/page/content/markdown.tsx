import type { ComponentChildren, JSX } from "preact";
import { LinkText } from "./link-text.tsx";
import { type Block, parseMarkdown, type Span } from "./parse-markdown.ts";

/** Markdown as elements of the page. HTML in it is text, images are links, and links show where they lead. */
export function Markdown({ text }: { readonly text: string }): JSX.Element {
  return <div class="prose">{parseMarkdown(text).map(renderBlock)}</div>;
}

function renderBlock(block: Block, key: number): JSX.Element {
  switch (block.is) {
    case "heading": {
      const Heading = (["h3", "h4", "h5", "h6"] as const)[Math.min(block.level, 4) - 1] ?? "h6";
      return <Heading key={key}>{renderSpans(block.spans)}</Heading>;
    }
    case "paragraph":
      return <p key={key}>{renderSpans(block.spans)}</p>;
    case "code":
      return (
        <pre key={key} class="code">
          <code>{block.text}</code>
        </pre>
      );
    case "quote":
      return <blockquote key={key}>{block.blocks.map(renderBlock)}</blockquote>;
    case "list": {
      const items = block.items.map((spans, index) => <li key={index}>{renderSpans(spans)}</li>);
      return block.isOrdered ? (
        <ol key={key} start={block.start}>
          {items}
        </ol>
      ) : (
        <ul key={key}>{items}</ul>
      );
    }
    case "table":
      return (
        <div key={key} class="scroll">
          <table>
            <thead>
              <tr>
                {block.head.map((cell, index) => (
                  <th key={index}>{renderSpans(cell)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>
                  {row.map((cell, column) => (
                    <td key={column}>{renderSpans(cell)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case "rule":
      return <hr key={key} />;
  }
}

function renderSpans(spans: readonly Span[]): ComponentChildren {
  return spans.map(renderSpan);
}

function renderSpan(span: Span, key: number): ComponentChildren {
  switch (span.is) {
    case "text":
      return span.text;
    case "code":
      return <code key={key}>{span.text}</code>;
    case "strong":
      return <strong key={key}>{renderSpans(span.spans)}</strong>;
    case "em":
      return <em key={key}>{renderSpans(span.spans)}</em>;
    case "strike":
      return <s key={key}>{renderSpans(span.spans)}</s>;
    case "link":
      return <LinkText key={key} url={span.url} label={span.label} />;
  }
}
