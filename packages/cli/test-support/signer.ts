import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "./run-command.ts";
import { at, cardPath, plainCard, send, startSick } from "./sick-server.ts";

/** Files of a key pair. */
export interface Signer {
  readonly privateKey: string;
  readonly publicKey: string;
  readonly kid: string;
}

/** Makes a key pair in a directory, by the command itself. */
export async function createSigner(
  directory: string,
  name: string,
  ...flags: readonly string[]
): Promise<Signer> {
  const privateKey = join(directory, `${name}.json`);
  const publicKey = join(directory, `${name}.public.json`);
  const made = await runCommand(["keys", "new", "--out", privateKey, "--kid", name, ...flags]);
  if (made.exitCode !== 0) throw new Error(made.stderr);
  return { privateKey, publicKey, kid: name };
}

/** The text of a card with a signature, made by the command itself; members are those of a plain card and the given ones. */
export async function signedCard(
  directory: string,
  { privateKey }: Signer,
  members: object = {},
  ...flags: readonly string[]
): Promise<string> {
  const file = join(directory, "to-be-signed.json");
  await writeFile(file, JSON.stringify({ ...plainCard, ...members }));
  const { stdout, stderr, exitCode } = await runCommand([
    "card",
    "sign",
    file,
    "--key",
    privateKey,
    ...flags,
  ]);
  if (exitCode !== 0) throw new Error(stderr);
  return stdout;
}

/** What a server has beside cards. */
export interface CardHost extends AsyncDisposable {
  readonly url: string;
  /** From now on the card is this text. */
  serve(text: string): void;
}

/** Serves a card, and the key set of a signer at `/jwks.json`. */
export async function startCardHost(signer: Signer): Promise<CardHost> {
  let card = "";
  const jwks = JSON.stringify({ keys: [JSON.parse(await readFile(signer.publicKey, "utf8"))] });
  const server = await startSick(
    at({
      [cardPath]: (response) => send(card)(response),
      "/jwks.json": send(jwks),
    }),
  );
  return {
    url: server.url,
    serve: (text) => {
      card = text;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The text of a card with other members, its signatures as they were. */
export function tampered(text: string, members: object): string {
  return JSON.stringify({ ...JSON.parse(text), ...members });
}
