import type { AgentCard } from "@a2a-connect/proto";

/** The web page at `/`: what this server is, and links, for people who open the URL in a browser. */
export function renderFrontPage({ name, description, supportedInterfaces }: AgentCard): string {
  const rows = supportedInterfaces.map(
    ({ protocolBinding, url }) =>
      `<tr><td>${escapeHtml(protocolBinding)}</td><td><code>${escapeHtml(url)}</code></td></tr>`,
  );
  return renderPage(
    name,
    `<p>${escapeHtml(description)}</p>
<p>An A2A agent. <a href=".well-known/agent-card.json">Agent card</a> · <a href="openapi.json">OpenAPI</a> · <a href="healthz">health</a></p>
<table>${rows.join("")}</table>`,
  );
}

/**
 * A plain web page.
 *
 * @param head further elements of its head
 */
export function renderPage(title: string, body: string, head = ""): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>body{font:16px/1.5 system-ui;max-width:48rem;margin:3rem auto;padding:0 1rem}td{padding:.2rem 1rem .2rem 0}</style>
${head}<h1>${escapeHtml(title)}</h1>
${body}
</html>
`;
}

/** Text escaped for HTML, also inside quotes. */
export function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
