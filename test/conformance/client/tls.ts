import { CardNotFoundError } from "@a2a-connect/client";
import { connectAgent } from "@a2a-connect/node/client";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { expect } from "vitest";
import { failureOf, rejectedWith } from "../../../packages/client/test-support/outcomes.ts";
import { bindingOf } from "../../client/interfaces.ts";
import { clientScenarios } from "./client-scenario.ts";
import { startPeer, taskId } from "./peer.ts";

/** Whom the client talks to. */
export const tls = clientScenarios("Certificates, as the client judges them", (verifies) => {
  verifies("O-1", "that nobody vouches for end it, the card's and the interface's", async (wire) => {
    const certificate = createSelfSignedCertificate();
    await using peer = await startPeer({ tls: certificate });
    const options = { pinBinding: bindingOf[wire], retry: { attempts: 1 } };
    await rejectedWith(connectAgent(peer.url, options), CardNotFoundError);
    for (const each of peer.card.supportedInterfaces) {
      if (each.protocolBinding === "GRPC") each.url = peer.url; // a bare one does not say that it is TLS
    }
    await using agent = await connectAgent(peer.card, options);
    expect(await failureOf(agent.sendMessage("secret"))).toMatchObject({ code: "unreachable" });
    expect([...peer.cardRequests, ...peer.requests]).toEqual([]);

    await using trusting = await connectAgent(peer.url, { ...options, tls: { ca: certificate.cert } });
    await trusting.getTask(taskId);
    expect(peer.requests.map((request) => request.wire)).toEqual([wire]);
  });
});
