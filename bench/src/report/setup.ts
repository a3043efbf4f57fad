import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { cpus } from "node:os";
import { cores } from "../servers/pin.ts";

const compared = [
  "@a2a-js/sdk",
  "express",
  "@grpc/grpc-js",
  "@connectrpc/connect-node",
  "@bufbuild/protobuf",
] as const;

/** Where and with what the figures were taken, in one sentence each. */
export function describeSetup(quick: boolean): string {
  const versions = compared.map((name) => `${name} ${versionOf(name)}`).join(", ");
  const pinned = cores === undefined ? "not pinned to cores" : "server and load pinned to different cores";
  return [
    `Taken ${new Date().toISOString().slice(0, 10)} on ${cpus().length} cores (${process.arch} ${process.platform}), ${pinned}.`,
    `Node ${process.versions.node}, ${versions}.`,
    ...(quick ? ["A quick run: too short to be quoted."] : []),
  ].join(" ");
}

function versionOf(name: string): string {
  const file = findPackageJSON(name, import.meta.url);
  if (file === undefined) {
    return "(not found)";
  }
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string }; // every package has one
  return version;
}
