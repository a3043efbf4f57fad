import { browserLogin, createCredentials, deviceLogin, type Grant } from "@a2a-connect/auth/client";
import { ConnectError } from "@connectrpc/connect";
import { CliError, usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { defined } from "../json.ts";
import { areEncrypted, type Login, loginStore, loginsFile, readLogins, writeLogins } from "./logins.ts";
import { openLoopback } from "./loopback.ts";

interface LoginFlags {
  readonly clientId: string;
  readonly clientSecretEnv?: string;
  readonly issuer?: string;
  readonly audience?: string;
  readonly scope?: readonly string[];
  readonly browser?: boolean;
}

/** Logs in to the agent of `--agent-card`: gets a token of the authorization server that its card names, and keeps it. */
export async function login(context: CommandContext, flags: LoginFlags): Promise<void> {
  const { io, output, signal } = context;
  const { clientId: id, clientSecretEnv, issuer, audience, scope: scopes, browser = false } = flags;
  const secret = clientSecretEnv === undefined ? undefined : io.env[clientSecretEnv]?.trim();
  if (clientSecretEnv !== undefined && !secret) {
    const hint = `Set it to the secret of the client ${id}: export ${clientSecretEnv}=…`;
    const message = `the environment variable ${clientSecretEnv} is not set`;
    throw new CliError("A2ACLI_ERR_CREDENTIALS_MISSING", message, { hint });
  }
  const { read, url } = await context.receiveCard();
  const card = await read();
  const [target] = card.supportedInterfaces;
  const wantsTokens = Object.values(card.securitySchemes).some(({ scheme }) =>
    ["oauth2SecurityScheme", "openIdConnectSecurityScheme"].includes(scheme.case ?? ""),
  );
  if (target === undefined || !wantsTokens) {
    throw usageError(
      `${card.name} names no authorization server to log in to`,
      "a2a card get shows what it asks for; if you have a token or an API key, set A2ACLI_BEARER or A2ACLI_API_KEY",
    );
  }
  const agent = new URL(url ?? target.url).origin;
  const known: Omit<Login, "tokens"> = { agent, id, ...defined({ issuer, audience, scopes }) };
  await using loopback = browser ? await openLoopback() : undefined;
  const grant: Grant =
    loopback === undefined
      ? deviceLogin(async ({ url: where, completeUrl, code }) => {
          await output.note(`Open ${completeUrl ?? where} in a browser, and confirm the code ${code}`);
        })
      : browserLogin({
          redirectUri: loopback.redirectUri,
          open: async (start, aborted) => {
            await output.note(`Open this address in a browser of this machine, and log in:\n${start.href}`);
            return await loopback.receive(aborted);
          },
        });
  const logins = await readLogins(io);
  const others = logins.filter((each) => each.agent !== agent);
  if (others.length < logins.length) await writeLogins(others, io);
  const store = loginStore(known, io);
  const source = createCredentials({
    client: { ...known, store, ...(secret === undefined ? { grant } : { secret }) },
  });
  try {
    await source.forCall({ card, cardUrl: url, interface: target, fetch: globalThis.fetch, signal });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ConnectError)) throw error;
    const { rawMessage } = error;
    const hint = /device_authorization_endpoint/.test(rawMessage)
      ? "this authorization server has no login by code: use --browser, or --client-secret-env for a client with a secret"
      : undefined;
    throw new CliError("A2ACLI_ERR_AUTH_FAILED", rawMessage, { hint, cause: error });
  }
  await show(
    (await readLogins(io)).filter((each) => each.agent === agent),
    context,
  );
  await output.note(
    (await areEncrypted(io))
      ? `The tokens are in ${loginsFile(io)}, encrypted with a key in the system's secret storage`
      : `warning: the tokens are in ${loginsFile(io)}, unencrypted, because the system has no working secret storage; only your user can read that file`,
  );
}

export async function status(context: CommandContext): Promise<void> {
  const logins = await readLogins(context.io);
  const hint = "You are not logged in to any agent; to log in: a2a auth login -a AGENT --client-id ID";
  if (logins.length === 0) await context.output.note(hint);
  await show(logins, context);
}

/** Forgets the tokens for an agent, or all of them. @param agent a host or URL; undefined: that of `--agent-card` */
export async function logout(
  context: CommandContext,
  given: string | undefined,
  { all = false }: { readonly all?: boolean },
): Promise<void> {
  const { io, output } = context;
  const logins = await readLogins(io);
  const wanted = given ?? context.settings.agentCard;
  if (!all && wanted === undefined) {
    throw usageError("name the agent, or use --all", "a2a auth status lists them");
  }
  const isWanted = ({ agent }: Login): boolean =>
    all || agent === URL.parse(wanted ?? "")?.origin || new URL(agent).host === wanted;
  const gone = logins.filter(isWanted);
  if (gone.length === 0 && !all) {
    throw usageError(`you are not logged in to ${wanted}`, "a2a auth status lists where you are");
  }
  const kept = logins.filter((each) => !isWanted(each));
  await writeLogins(kept, io);
  const loggedOut = gone.map(({ agent }) => agent);
  await output.document({ loggedOut });
  await output.fields({ "Logged out": loggedOut });
}

async function show(logins: readonly Login[], { output }: CommandContext): Promise<void> {
  const shown = logins.map(({ agent, id, tokens }) => {
    const [token] = Object.values(tokens);
    const { expiresAt, refreshToken } = token ?? {};
    return {
      agent,
      client: id,
      expires: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
      renewable: refreshToken !== undefined,
      valid: token !== undefined && (refreshToken !== undefined || (expiresAt ?? Infinity) > Date.now()),
    };
  });
  await output.document({ logins: shown });
  for (const { agent, client, expires, renewable, valid } of shown) {
    const until = renewable
      ? "a2a renews it"
      : expires === null
        ? "its end is not known"
        : `until ${expires}`;
    await output.field(agent, `client ${client}, ${valid ? until : "expired: log in again"}`);
  }
}
