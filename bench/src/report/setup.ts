import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { cpus } from "node:os";
import { cores } from "../servers/pin.ts";

/** What is compared, and what our server stands on; each with the module that imports it. */
const named = [
  ["@a2a-js/sdk", import.meta.url],
  ["express", import.meta.url],
  ["@grpc/grpc-js", import.meta.url],
  ["@connectrpc/connect-node", import.meta.resolve("@a2a-connect/node")],
  ["@bufbuild/protobuf", import.meta.url],
] as const;

/** Where and with what the figures were taken. */
export function describeSetup(quick: boolean): string {
  const versions = named.map(([name, importer]) => `${name} ${versionOf(name, importer)}`).join(", ");
  const pinned = cores === undefined ? "not pinned to cores" : "server and load pinned to different cores";
  return [
    `Taken ${new Date().toISOString().slice(0, 10)} on ${cpus().length} cores (${process.arch} ${process.platform}), ${pinned}.`,
    `Node ${process.versions.node}, ${versions}.`,
    ...(quick ? ["A quick run: too short to be quoted."] : []),
  ].join(" ");
}

function versionOf(name: string, importer: string): string {
  const file = findPackageJSON(name, importer);
  if (file === undefined) {
    throw new Error(`${name} is not installed`);
  }
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string }; // every package has one
  return version;
}
