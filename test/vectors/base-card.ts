import type { JsonObject } from "@bufbuild/protobuf";

/** The card that most vectors are a variation of. Nothing in it is empty, so all profiles make the same text of it. */
export const baseCard = {
  name: "Weather Agent",
  description: "Tells the weather.",
  version: "1.0.0",
  supportedInterfaces: [
    { url: "https://agent.example.com/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
  ],
  capabilities: { streaming: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "forecast", name: "Forecast", description: "Forecasts the weather.", tags: ["weather"] }],
} satisfies JsonObject;

/** Its canonical text, by hand. */
export const baseCanonical: string =
  '{"capabilities":{"streaming":true},' +
  '"defaultInputModes":["text/plain"],' +
  '"defaultOutputModes":["text/plain"],' +
  '"description":"Tells the weather.",' +
  '"name":"Weather Agent",' +
  '"skills":[{"description":"Forecasts the weather.","id":"forecast","name":"Forecast","tags":["weather"]}],' +
  '"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"https://agent.example.com/a2a"}],' +
  '"version":"1.0.0"}';

/**
 * A text with some of its pieces replaced. Canonical texts are written by hand: as the one above with a few pieces replaced, so
 * that what matters stands alone.
 *
 * @throws if a piece does not stand there exactly once
 */
export function replaced(
  text: string,
  ...changes: readonly (readonly [piece: string, by: string])[]
): string {
  return changes.reduce((now, [piece, by]) => {
    if (now.split(piece).length !== 2) {
      throw new Error(`not exactly once in the text: ${piece}`);
    }
    return now.replace(piece, () => by);
  }, text);
}

/** The canonical text of the base card with some pieces replaced. */
export function baseWith(...changes: readonly (readonly [piece: string, by: string])[]): string {
  return replaced(baseCanonical, ...changes);
}

/** The canonical text of the base card with a schemes member, and requirements before it if there are any. */
export function baseWithSecurity(schemes: string, requirements?: string): string {
  const members = requirements === undefined ? "" : `"securityRequirements":${requirements},`;
  return baseWith(['"skills":', `${members}"securitySchemes":${schemes},"skills":`]);
}
