export { type Options, parseOptions } from "./options.ts";
export { createReferenceAgent, type Profile, profileOptions, profiles } from "./reference-agent.ts";
export { startReferenceAgent } from "./start.ts";
