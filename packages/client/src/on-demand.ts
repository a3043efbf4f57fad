/**
 * What only some options, calls and cards need. Import it with `import()`: a page loads these modules in one file, and only when
 * it uses one of them.
 */
export { createOlderHttpJsonTransport, createOlderJsonRpcTransport } from "@a2a-connect/bindings/v03";
export { checkExpectation } from "./card/expected-card.ts";
export {
  normalizeOlderCard,
  readOlderCard,
  withOlderSecurity,
} from "./card/older-card.ts";
export { checkRequirements } from "./card/required-abilities.ts";
export { inspectContent, inspectResponses } from "./content/inspect-interceptor.ts";
export { inspectOnce } from "./content/inspect-once.ts";
export { saveParts } from "./content/save-parts.ts";
export { fileFetch } from "./interface/file-fetch.ts";
