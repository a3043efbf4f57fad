import type { AgentClient, ConnectOptions } from "@a2a-connect/client";
import type { AgentSettings } from "./agent/agent-settings.ts";
import type { CardReference } from "./agent/card-reference.ts";
import type { FoundCard } from "./agent/receive-card.ts";
import type { CliIo } from "./cli-io.ts";
import type { Output } from "./output/output.ts";
import type { AgentEntry } from "./settings/agent-book.ts";
import type { Settings } from "./settings/settings.ts";

/** How an agent is opened. */
export interface OpenAgentOptions extends Partial<ConnectOptions> {
  /** In place of `--agent-card`: for commands that take the agent as an argument. */
  readonly reference?: string | undefined;
  /** Whether the reference stands in a file, and was not typed: then others may have written it. */
  readonly isListed?: boolean;
}

/** What a command's action is given, beside its own arguments and options. */
export interface CommandContext {
  readonly io: CliIo;
  readonly output: Output;
  /** What flags, environment and files say together (spec of the a2a command, §8.3). */
  readonly settings: Settings;
  /** The same for one agent, with what `a2a.config.yaml` says about it. */
  settingsFor(entry: AgentEntry | undefined): AgentSettings;
  /**
   * The same without the credentials that the agent may have only when the user allows it; a warning says which. For a command that
   * goes on without them: `openAgent` asks, or refuses.
   *
   * @param given the reference, where it is an argument
   */
  permittedSettings(reference: CardReference, given: string | undefined): Promise<AgentSettings>;
  /**
   * Connects to the agent that `--agent-card` names (or a name in `a2a.config.yaml`), with its credentials, binding
   * and version. Closed by itself when the command ends. Where a key is known for the agent, its card has to be signed by it.
   *
   * @throws CliError CARD_NOT_FOUND, CARD_INVALID, UNREACHABLE, CREDENTIALS_MISSING
   */
  openAgent(options?: OpenAgentOptions): Promise<AgentClient>;
  /**
   * The card alone, fetched or read: also one with faults, and that of an agent that cannot be called.
   *
   * @throws CliError CARD_NOT_FOUND, UNREACHABLE; AgentErrors of the client
   */
  receiveCard(reference?: string): Promise<FoundCard>;
  /**
   * Aborted when the user interrupts, or `--timeout` expires; then its reason is a CliError TIMEOUT. What a command
   * throws because of it need not be translated: an interruption ends with the exit code of its signal, 130 or 143,
   * a timeout as `A2ACLI_ERR_TIMEOUT`; both are reported. A command that knows more (how to resume) throws a CliError of
   * its own.
   */
  readonly signal: AbortSignal;
  /**
   * To be called before anything is printed by a command whose answer is its exit code, or whose output must not be lost: then a
   * reader who goes away makes it fail, where it would have ended with 0.
   */
  needReader(): void;
  /**
   * The exit code of a command that did its job, where it is not 0 (or, after an interruption, not its signal's). What
   * is thrown has the exit code of its error. To be called before what it is about is printed, because printing may fail.
   */
  exitWith(code: number): void;
}
