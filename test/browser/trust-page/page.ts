// A page that sends nothing to an agent whose card nobody it trusts has signed.
import { CardRefusedError, connectAgent } from "@a2a-connect/client";
import { CardNotTrustedError, trustCards } from "@a2a-connect/signing";
import "./page-api.ts";

globalThis.trustPage = {
  async connect(agentUrl, policy) {
    try {
      const agent = await connectAgent(agentUrl, { verifyCard: trustCards(policy) });
      await agent.close();
      return agent.card.name;
    } catch (error) {
      if (error instanceof CardRefusedError && error.cause instanceof CardNotTrustedError) {
        return error.cause.reason;
      }
      throw error;
    }
  },
};
