import { dirname, resolve } from "node:path";
import type { OAuthClient } from "@a2a-connect/auth/client";
import { trimSlashes } from "@a2a-connect/core/internal";
import { CliError, usageError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { defined } from "../json.ts";
import { findNearestWord } from "../nearest-word.ts";
import { type AgentConfig, type AuthConfig, type FoundConfig, findConfigFile } from "./config-file.ts";
import { holdsPrivateKey, isInlineKey } from "./values.ts";

/** An agent that `a2a.config.yaml` names, with its credentials at hand; a file that has its key by the absolute path. */
export interface AgentEntry extends Omit<AgentConfig, "auth"> {
  /** `file:line` of what names it. */
  readonly where: string;
  readonly locate: (member: string) => string;
  readonly directory: string;
  readonly bearer: string | undefined;
  readonly apiKey: string | undefined;
  /** Gets tokens for itself of the authorization server that the card names. */
  readonly client: ClientEntry | undefined;
  /** The variable that the file has taken any of these from. */
  readonly secretName: string | undefined;
}

export type ClientEntry = Pick<OAuthClient, "id" | "secret" | "tokenEndpoint" | "audience" | "scopes">;

/** Where names are looked up: the file above `cwd`, the secrets in `env`. */
type BookIo = Pick<CliIo, "cwd" | "env">;

/**
 * The agent of this name in the nearest `a2a.config.yaml`, if any. What can be no name (a host with a dot or port, a URL, a path) is
 * not looked up. @throws CliError USAGE when the file is wrong, CREDENTIALS_MISSING when a variable that it names is not set
 */
export async function findAgent(name: string, io: BookIo): Promise<AgentEntry | undefined> {
  if (!agentName.test(name)) return undefined;
  const found = await findConfigFile(io.cwd);
  const agents = found?.config.agents ?? {};
  const agent = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (found === undefined || agent === undefined) return undefined;
  const { auth, ...others } = agent;
  const locate = (...member: readonly string[]): string => found.locate(["agents", name, ...member]);
  const where = locate();
  if (/^(?!https?:)[a-z][a-z0-9+.-]*:\/\//i.test(agent.url)) {
    throw usageError(`${locate("url")}: agents.${name}.url must be a host, or an http or https URL`);
  }
  if (auth !== undefined) refuseSeveral(auth, where);
  const { tokenUrl: tokenEndpoint, audience, scopes } = auth ?? {};
  const [id, secret] = [auth?.clientIdEnv, auth?.clientSecretEnv].map((each) => readSecret(each, where, io));
  return {
    ...others,
    ...defined({ key: readCardKey(agent.key, found, name) }),
    where,
    locate,
    directory: dirname(found.path),
    bearer: readSecret(auth?.tokenEnv, where, io),
    apiKey: readSecret(auth?.apiKeyEnv, where, io),
    client: id && secret ? { id, secret, ...defined({ tokenEndpoint, audience, scopes }) } : undefined,
    secretName: auth?.tokenEnv ?? auth?.apiKeyEnv ?? auth?.clientSecretEnv,
  };
}

/** The names in the nearest `a2a.config.yaml`, in its order; none without one. @throws CliError USAGE when it is wrong */
export async function agentNames(io: Pick<BookIo, "cwd">): Promise<readonly string[]> {
  return Object.keys((await findConfigFile(io.cwd))?.config.agents ?? {});
}

/** For the hint of a host that may be meant as a name: which ones there are. Undefined when there are none, or it is one, or can be none. */
export async function knownAgentsHint(
  io: Pick<BookIo, "cwd">,
  given: string | undefined,
): Promise<string | undefined> {
  if (given === undefined || !agentName.test(given)) return undefined;
  const names = await agentNames(io);
  if (names.length === 0 || names.includes(given)) return undefined;
  const nearest = findNearestWord(given, names);
  const question = nearest === undefined ? "" : `did you mean ${nearest}? `;
  return `${question}a2a.config.yaml knows ${names.join(", ")}.`;
}

/** As in the schema: neither a host with a dot or port, nor a URL, nor a path. */
const agentName = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

function readCardKey(
  key: string | undefined,
  { path, locate }: FoundConfig,
  name: string,
): string | undefined {
  if (key === undefined || !isInlineKey(key)) return key && resolve(dirname(path), key);
  if (!holdsPrivateKey(key)) return key;
  throw usageError(
    `${locate(["agents", name, "key"])}: agents.${name}.key is a private key, and this file must not hold secrets`,
    "Put the public key there (a2a keys public FILE prints it), and keep the private one where cards are signed.",
  );
}

function refuseSeveral({ clientIdEnv, tokenEnv, apiKeyEnv }: AuthConfig, where: string): void {
  const [one, other] = Object.entries({ tokenEnv, apiKeyEnv, clientIdEnv }).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  if (other !== undefined) throw usageError(`${where}: auth has both ${one} and ${other}; use one of them`);
}

function readSecret(variable: string | undefined, where: string, { env }: BookIo): string | undefined {
  if (variable === undefined) return undefined;
  const secret = env[variable]?.trim();
  if (secret !== undefined && secret !== "") return secret;
  throw new CliError(
    "A2ACLI_ERR_CREDENTIALS_MISSING",
    `${where} takes its credentials from the environment variable ${variable}, which is not set`,
    { hint: `Set it, for example: export ${variable}=…` },
  );
}

/** What `a2a.config.yaml` says about the agent that is served here. */
export interface ServerConfig {
  readonly url: string | undefined;
  /** Port to listen on: that of `url` when it names this machine. */
  readonly port: number | undefined;
  /** File of the store, absolute; `memory` for none. */
  readonly store: string | undefined;
  /** Credentials that callers need, as `--auth` has them. */
  readonly auth: string | undefined;
}

/** The `server` of the nearest `a2a.config.yaml`; undefined without one. @throws CliError USAGE when the file is wrong */
export async function readServerConfig(io: Pick<CliIo, "cwd">): Promise<ServerConfig | undefined> {
  const found = await findConfigFile(io.cwd);
  const server = found?.config.server;
  if (found === undefined || server === undefined) return undefined;
  const { url = "", store, auth: { oidc, apiKeys } = {} } = server;
  const { hostname, port, protocol } = URL.parse(url) ?? { hostname: "", port: "", protocol: "" };
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  return {
    url: server.url && trimSlashes(server.url),
    port: isHere ? Number(port || (protocol === "https:" ? 443 : 80)) : undefined,
    store: store === undefined || store === "memory" ? store : resolve(dirname(found.path), store),
    auth: oidc !== undefined ? `oidc=${oidc}` : apiKeys && `api-key=${resolve(dirname(found.path), apiKeys)}`,
  };
}
