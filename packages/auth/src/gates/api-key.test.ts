import { expect, it, onTestFinished, vi } from "vitest";
import type { AuthGate, Credentials } from "../gate.ts";
import { type ApiKey, apiKey, hashApiKey } from "./api-key.ts";

const header = "x-key";

const credentials = (key: string): Credentials => ({
  header: new Headers({ [header]: key }),
  url: "http://localhost/",
  countFields: () => 1,
  certificate: undefined,
});

/** Keys of others, and one that is known. */
async function keysAmong(others: number): Promise<Record<string, ApiKey>> {
  const hashes = Array.from({ length: others }, (_, index) => `sha256:${String(index).padStart(64, "0")}`);
  return {
    ...Object.fromEntries(hashes.map((hash, index) => [`other-${index}`, { hash }])),
    alice: { hash: await hashApiKey("alices-key") },
  };
}

/** How often the hash of the key that a caller has sent is looked at. */
async function countLooks(gate: AuthGate, key: string): Promise<number> {
  let looks = 0;
  const Bytes = Uint8Array;
  vi.stubGlobal("Uint8Array", function read(buffer: ArrayBuffer) {
    return new Proxy([...new Bytes(buffer)], {
      get(bytes, member) {
        looks += 1;
        return Reflect.get(bytes, member);
      },
    });
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  await gate.verify(credentials(key));
  vi.unstubAllGlobals();
  return looks;
}

it.each(["alices-key", "guess"])(
  "looks a key up: its hash is not compared with all of them: %s",
  async (key) => {
    const gate = apiKey({ header, keys: await keysAmong(2_000) });
    const looks = await countLooks(gate, key);
    expect(looks).toBeGreaterThan(0);
    expect(looks).toBeLessThan(1_000); // a hash has 32 bytes
  },
);

it("reads the keys of a function again when it returns another object, and not before", async () => {
  let reads = 0;
  const counted = ({ hash, ...others }: ApiKey): ApiKey => ({
    ...others,
    get hash() {
      reads += 1;
      return hash;
    },
  });
  const hash = await hashApiKey("the-key");
  let keys: Record<string, ApiKey> = { alice: counted({ hash }) };
  const gate = apiKey({ header, keys: () => keys });
  const verify = () => gate.verify(credentials("the-key"));
  expect([await verify(), await verify(), reads]).toMatchObject([
    { principal: "key:alice" },
    { principal: "key:alice" },
    1,
  ]);
  keys = { bob: counted({ hash }) };
  expect([await verify(), reads]).toMatchObject([{ principal: "key:bob" }, 2]);
  keys = {};
  expect(await verify()).toEqual({ refused: "the API key is unknown" });
});
