// `pnpm generate:vectors`: writes test/vectors/agent-card from the cases, and signatures.json.
import { readdir, rm, writeFile } from "node:fs/promises";
import { makeVectors } from "./make-vectors.ts";
import { SignatureBook } from "./signature-book.ts";
import { vectorFolder, vectorText } from "./vector-files.ts";

const book = SignatureBook.read();
const vectors = await makeVectors(book);
for (const file of await readdir(vectorFolder)) {
  await rm(new URL(file, vectorFolder));
}
for (const [name, vector] of vectors) {
  await writeFile(new URL(`${name}.json`, vectorFolder), vectorText(vector));
}
await writeFile(SignatureBook.file, book.toText());
process.stdout.write(`${vectors.size} vectors\n`);
