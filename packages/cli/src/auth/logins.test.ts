import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { areEncrypted, type Login, loginsFile, readLogins, writeLogins } from "./logins.ts";
import { findSecretStorage, type SecretStorage } from "./secret-storage.ts";

const login: Login = {
  agent: "https://agent.example",
  id: "client",
  tokens: { a: { accessToken: "secret-1" } },
};

function begin() {
  const home = mkdtempSync(join(tmpdir(), "a2a-logins-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const warnings: string[] = [];
  const stderr = { isTerminal: false, write: async (text: string) => void warnings.push(text) };
  return { io: { home, cwd: home, env: {}, stderr }, warnings };
}

function createStorage(): SecretStorage & { secret: string | undefined } {
  return {
    secret: undefined,
    find() {
      return Promise.resolve(this.secret);
    },
    async keep(secret) {
      this.secret = secret;
    },
  };
}

it("keeps logins encrypted, with a key that the system keeps", async () => {
  const { io, warnings } = begin();
  const storage = createStorage();
  await writeLogins([login], io, storage);
  const text = readFileSync(loginsFile(io), "utf8");
  expect([text.includes("secret-1"), text.includes(storage.secret ?? ""), await areEncrypted(io)]).toEqual([
    false,
    false,
    true,
  ]);
  expect(statSync(loginsFile(io)).mode & 0o777).toBe(0o600);
  expect(await readLogins(io, storage)).toEqual([login]);
  const key = storage.secret;
  await writeLogins([login, login], io, storage);
  expect([storage.secret, (await readLogins(io, storage)).length, warnings]).toEqual([key, 2, []]);
});

it("says so when the key is gone or another one, or the file was changed", async () => {
  const { io, warnings } = begin();
  const storage = createStorage();
  await writeLogins([login], io, storage);
  const sealed = readFileSync(loginsFile(io), "utf8");
  const other = createStorage();
  await writeLogins([], { ...io, home: join(io.home, "other") }, other);
  expect(await readLogins(io, undefined)).toEqual([]);
  expect(await readLogins(io, other)).toEqual([]);
  for (const changed of ["{}", '{"sealed":""}', sealed.replace(/[A-Z]/, (letter) => letter.toLowerCase())]) {
    writeFileSync(loginsFile(io), changed);
    expect(await readLogins(io, storage)).toEqual([]);
  }
  expect(new Set(warnings)).toEqual(
    new Set([
      `warning: the key that decrypts ${loginsFile(io)} is not in the system's secret storage: unlock that storage, or log in again\n`,
    ]),
  );
  expect(warnings.length).toBe(5);
});

it("keeps logins in the clear, for the user alone, where no storage keeps the key", async () => {
  const { io } = begin();
  const refusing = { find: async () => undefined, keep: async () => {} };
  await writeLogins([login], io, refusing);
  expect([await areEncrypted(io), await readLogins(io, undefined)]).toEqual([false, [login]]);
  const storage = createStorage();
  await writeLogins(await readLogins(io, storage), io, storage); // from then on there is a storage
  expect([await areEncrypted(io), await readLogins(io, storage)]).toEqual([true, [login]]);
});

it("asks the system's storage only for the user's own home directory", () => {
  expect(findSecretStorage(begin().io)).toBeUndefined();
});
