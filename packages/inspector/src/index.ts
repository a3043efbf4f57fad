import { readdir, readFile } from "node:fs/promises";

/** The inspector: a page, and what it loads. */
export interface InspectorPage {
  readonly html: string;
  /** Its scripts and its style, which the page loads from `inspector/`, by their names. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * The inspector's page. In a checkout of the sources it is built first, which takes about two seconds of another process,
 * unless it was built since the last change; published, it is in the package.
 *
 * @returns undefined where there is no page, as in a program that was bundled into one file
 * @throws Error when it cannot be built
 */
export async function loadInspector(): Promise<InspectorPage | undefined> {
  const folder = import.meta.url.endsWith(".ts")
    ? await (await import("./build-from-sources.ts")).buildFromSources()
    : new URL("page/", import.meta.url);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const script = names.find((name) => /^inspector-.*\.js$/.test(name));
  const style = names.find((name) => name.endsWith(".css"));
  if (script === undefined || style === undefined) return undefined;
  const files = names.map(async (name) => [name, await readFile(new URL(name, folder), "utf8")] as const);
  return { html: renderHtml(script, style), files: new Map(await Promise.all(files)) };
}

/** The addresses are relative, because an agent may be served below a path. */
function renderHtml(script: string, style: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>A2A inspector</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
<link rel="stylesheet" href="inspector/${style}">
<script type="module" src="inspector/${script}"></script>
</head>
<body>
<div id="page"><noscript>This page shows what the agent does, and needs JavaScript for it. The agent's card is at <a href=".well-known/agent-card.json">.well-known/agent-card.json</a>.</noscript></div>
</body>
</html>
`;
}

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0f766e"/><path d="M9 21 15 9l3 6" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/><circle cx="21.5" cy="20.5" r="3.2" fill="#5eead4"/></svg>';
