import type { GetCardFlags } from "../card/get-card.ts";
import type { AddCommand } from "../command.ts";
import type { CommandContext } from "../command-context.ts";

/** `a2a card get`: fetches, shows and checks an Agent Card (a2a-cli §10.1). */
export const addCard: AddCommand = (program, host) => {
  const card = program.command("card").description("Look at Agent Cards");
  const get = card
    .command("get")
    .description("Fetch an Agent Card and show it")
    .argument("[ref]", "the agent, in place of --agent-card")
    .option("--validate", "check the card against the schema of A2A, and list what is wrong")
    .option("--extended", "fetch the extended card, with the credentials that the public one asks for");
  host.agentOptions(get);
  host.action(get, async (context: CommandContext, reference: string | undefined, flags: GetCardFlags) => {
    const { getCard } = await import("../card/get-card.ts");
    await getCard(context, reference, flags);
  });
};
