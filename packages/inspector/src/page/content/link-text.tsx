import { parseHttpUrl } from "@a2a-connect/core/internal";
import type { JSX } from "preact";
import { shown } from "./shown.ts";

/** A link of an agent: its whole address stands there, and only web addresses can be followed. */
export function LinkText({ url, label }: { readonly url: string; readonly label?: string }): JSX.Element {
  const parsed = parseHttpUrl(url);
  const address = shown(parsed?.href ?? url);
  const words = label === undefined || label === "" || label === url ? "" : `${shown(label)} `;
  if (parsed === undefined) {
    return (
      <span>
        {words}
        <code class="address">{address}</code>
      </span>
    );
  }
  return (
    <span>
      {words}
      <a class="address" href={parsed.href} target="_blank" rel="noopener noreferrer nofollow">
        {address}
      </a>
    </span>
  );
}
