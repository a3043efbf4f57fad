export {
  type A2AClient,
  type AgentHarness,
  type HarnessClientOptions,
  type HarnessOptions,
  type StoreKind,
  startAgentHarness,
  type Wire,
  wires,
} from "./agent-harness.ts";
export {
  createEngineHarness,
  createMemoryTransport,
  type EngineHarness,
  type EngineHarnessOptions,
  readStream,
  reasonOf,
  type StreamReader,
  say,
  taskOf,
  wordsOf,
} from "./engine-harness.ts";
export { createFakeClock, type FakeClock } from "./fake-clock.ts";
export { createScriptedExecutor, type ScriptedExecutor, type ScriptedTurn } from "./scripted-agent.ts";
export {
  type CertificateAuthority,
  type CertificateKeys,
  createCertificateAuthority,
  createSelfSignedCertificate,
} from "./self-signed-certificate.ts";
export { alice, type CommitInit, createCommit, createPushConfig } from "./task-commit.ts";
export { commitStorm, findLosses } from "./task-store/commit-storm.ts";
export type { OpenedTaskStore, OpenTaskStore } from "./task-store/opened-store.ts";
export { taskStoreContract } from "./task-store-contract.ts";
export { createTurnCount, type TurnCount } from "./turn-count.ts";
