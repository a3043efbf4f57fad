import { type CredentialSource, createCredentials } from "@a2a-connect/auth/client";
import type { AgentCard } from "@a2a-connect/proto";
import type { AgentSettings } from "../agent/agent-settings.ts";
import { type LoginsIo, loginStore, readLogins } from "./logins.ts";

/**
 * Where the tokens of an agent come from, when it wants credentials and none is given: the client that `a2a.config.yaml` names, or a login
 * (`a2a auth login`). Undefined: there is neither.
 *
 * @param agent its origin
 */
export async function findTokenSource(
  card: AgentCard,
  agent: string,
  { bearer, apiKey, client, serviceParameters }: AgentSettings,
  io: LoginsIo,
): Promise<CredentialSource | undefined> {
  const isGiven = (bearer ?? apiKey ?? serviceParameters["authorization"]) !== undefined;
  if (isGiven || Object.keys(card.securitySchemes).length === 0) return undefined;
  if (client !== undefined) {
    return createCredentials({ client, fetch });
  }
  const login = (await readLogins(io)).find((each) => each.agent === agent);
  return login && createCredentials({ client: { ...login, store: loginStore(login, io) }, fetch });
}

/** Authorization servers are not in the log of `--debug`: it would have to hide what they answer. */
const fetch: typeof globalThis.fetch = (input, init) => globalThis.fetch(input, init);
