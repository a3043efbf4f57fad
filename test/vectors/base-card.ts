import type { JsonObject } from "@bufbuild/protobuf";

/** The base card without its security. */
export const bareCard = {
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

/**
 * The card that most vectors are a variation of. Nothing in it is empty, so all profiles make the same text of it; and it has a
 * scheme, which a requirement names, so that nothing of that can be missing.
 */
export const baseCard = {
  ...bareCard,
  securitySchemes: {
    login: {
      openIdConnectSecurityScheme: {
        openIdConnectUrl: "https://login.example.com/.well-known/openid-configuration",
      },
    },
  },
  securityRequirements: [{ schemes: { login: { list: ["read"] } } }],
} satisfies JsonObject;

/** What its security is in its canonical text, by hand. */
const securityCanonical =
  '"securityRequirements":[{"schemes":{"login":{"list":["read"]}}}],' +
  '"securitySchemes":{"login":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://login.example.com/.well-known/openid-configuration"}}},';

/** Its canonical text, by hand. */
export const baseCanonical: string =
  '{"capabilities":{"streaming":true},' +
  '"defaultInputModes":["text/plain"],' +
  '"defaultOutputModes":["text/plain"],' +
  '"description":"Tells the weather.",' +
  '"name":"Weather Agent",' +
  securityCanonical +
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

/** The canonical text of the base card with other schemes, and requirements before them if there are any. */
export function baseWithSecurity(schemes: string, requirements?: string): string {
  const members = requirements === undefined ? "" : `"securityRequirements":${requirements},`;
  return baseWith([securityCanonical, `${members}"securitySchemes":${schemes},`]);
}

/** The canonical text of the bare card with some pieces replaced. */
export function bareWith(...changes: readonly (readonly [piece: string, by: string])[]): string {
  return replaced(baseWith([securityCanonical, ""]), ...changes);
}
