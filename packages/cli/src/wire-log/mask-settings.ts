import type { Settings } from "../settings/settings.ts";
import { isCredentialName } from "./credential-name.ts";
import { createMasking, type Masking } from "./masking.ts";

/** Takes what these settings hold as credentials out of whatever is logged. */
export function maskSettings(settings: Settings): Masking {
  return createMasking(secretsOf(settings));
}

/** Everything that the user gave as a credential, or under a name of one. */
function secretsOf({ bearer, apiKey, serviceParameters }: Settings): readonly string[] {
  const parameters = Object.entries(serviceParameters)
    .filter(([name]) => isCredentialName(name))
    .flatMap(([, value]) => [value, value.replace(/^[\w-]+ +/, "")]);
  return [bearer, apiKey, ...parameters].filter((secret) => secret !== undefined);
}
