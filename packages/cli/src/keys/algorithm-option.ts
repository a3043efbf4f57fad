import type { SignatureAlgorithm } from "@a2a-connect/signing/internal";
import { Option } from "commander";

/** Listed here, so that help needs not load what signs. */
const algorithmNames = [
  "ES256",
  "ES384",
  "EdDSA",
  "Ed25519",
  "RS256",
  "PS256",
] as const satisfies readonly SignatureAlgorithm[];

/** `--alg`, as all commands have it that sign. */
export function algorithmOption(description: string): Option {
  return new Option("--alg <name>", description).choices(algorithmNames);
}
