export { askPerson } from "./ask-person.ts";
export { type Clash, type ClashResolver, readClash } from "./clash.ts";
export { type Conduct, consolidate, resume, workerConnection } from "./consolidate.ts";
export { preferNewer } from "./prefer-newer.ts";
export { printMemories } from "./print-memories.ts";
export { readTranscriptFiles } from "./transcript-files.ts";
