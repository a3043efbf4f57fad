import { connectAgent as connectInBrowser, NoInterfaceError } from "@a2a-connect/client";
import { extensionsHeader, versionHeader } from "@a2a-connect/core/internal";
import { connectAgent } from "@a2a-connect/node/client";
import { type AgentCard, type AgentInterface, AgentInterfaceSchema } from "@a2a-connect/proto";
import type { Wire } from "@a2a-connect/testing";
import { create, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { failureOf, rejectedWith } from "../../../packages/client/test-support/outcomes.ts";
import { respondJson, startBrokenServer } from "../../client/broken-server.ts";
import { closedAddress } from "../../client/closed-address.ts";
import { bindingOf } from "../../client/interfaces.ts";
import { createCardJson } from "../../support/cards.ts";
import { clientScenarios } from "./client-scenario.ts";
import { connectOver, meetPeer } from "./every-operation.ts";
import { type Peer, startPeer, taskId } from "./peer.ts";
import { tenantsIn } from "./wire-request.ts";

/** Which of a card's interfaces is called, and how its user may insist. */
export const findingTheWay = clientScenarios("The interface that the client uses", (verifies) => {
  verifies("L-3", "is the first whose binding and version it knows, with that one's tenant", async () => {
    await using other = await startPeer();
    await using peer = await startPeer({
      editCard: (card) => {
        const grpc = interfaceOf(other.card, "grpc");
        offer(card, [
          { ...grpc, protocolVersion: "0.3", tenant: "old" },
          { ...grpc, protocolVersion: "2.0", tenant: "new" },
          { ...interfaceOf(card, "http-json"), tenant: "acme" },
          { ...interfaceOf(card, "jsonrpc"), tenant: "beta" },
        ]);
      },
    });
    await using agent = await connectAgent(peer.url);
    await agent.getTask(taskId);
    expect(seenBy(peer)).toEqual(["http-json path: acme"]);
    expect(agent.interface.tenant).toBe("acme");
    expect(other.requests).toEqual([]);
  });

  verifies("L-3", "is not one that its platform cannot call", async () => {
    await using peer = await startPeer({
      editCard: (card) => offer(card, [interfaceOf(card, "grpc"), interfaceOf(card, "jsonrpc")]),
    });
    await using agent = await connectInBrowser(peer.url);
    await agent.getTask(taskId);
    expect(seenBy(peer)).toEqual(["jsonrpc"]);
  });

  verifies("L-3", "is the next one where the first is not there, again with its own tenant", async () => {
    const nobody = await closedAddress();
    await using peer = await startPeer({
      editCard: (card) => {
        const jsonRpc = interfaceOf(card, "jsonrpc");
        offer(card, [
          { url: nobody, protocolBinding: "GRPC", protocolVersion: "1.0", tenant: "acme" },
          { ...jsonRpc, tenant: "beta" },
        ]);
      },
    });
    await using agent = await connectAgent(peer.url);
    await agent.sendMessage("hello");
    expect(seenBy(peer)).toEqual(["jsonrpc params: beta"]);
  });

  verifies("L-4", "is none of a binding that it has never heard of", async () => {
    await using peer = await startPeer({
      editCard: (card) => {
        const jsonRpc = interfaceOf(card, "jsonrpc");
        offer(card, [
          { ...jsonRpc, protocolBinding: "urn:example:pigeon" },
          { ...jsonRpc, protocolBinding: "jsonrpc" },
          { ...jsonRpc },
        ]);
      },
    });
    await using agent = await connectAgent(peer.url);
    expect(agent.interface.protocolBinding).toBe("JSONRPC");
    await agent.getTask(taskId);
    expect(peer.requests).toHaveLength(1);
  });

  verifies("J-2", "has the same gRPC target, however its address is written", async () => {
    for (const form of ["", "http://", "grpc://", "dns:", "dns:///"]) {
      await using peer = await startPeer({
        editCard: (card) => {
          const grpc = interfaceOf(card, "grpc");
          offer(card, [{ ...grpc, url: `${form}${grpc.url}` }]);
        },
      });
      await using agent = await connectAgent(peer.url);
      await agent.getTask(taskId);
      expect([form, ...seenBy(peer)]).toEqual([form, "grpc"]);
    }
  });

  verifies("F-7", "has the version that both know, where one binding is there in several", async () => {
    await using peer = await startPeer({
      editCard: (card) => {
        const jsonRpc = interfaceOf(card, "jsonrpc");
        offer(card, [
          { ...jsonRpc, protocolVersion: "0.3", tenant: "old" },
          { ...jsonRpc, protocolVersion: "1.0", tenant: "acme" },
        ]);
      },
    });
    await using agent = await connectAgent(peer.url);
    await agent.getTask(taskId);
    expect(seenBy(peer)).toEqual(["jsonrpc params: acme"]);
  });

  verifies(
    "F-8",
    "speaks the version that its user insists on, or the best of those allowed",
    async (wire) => {
      await using peer = await startPeer({
        editCard: (card) => {
          const both = card.supportedInterfaces.flatMap((each) => [
            { ...each, protocolVersion: "1.1" },
            { ...each, protocolVersion: "1.0" },
          ]);
          offer(card, both);
        },
      });
      for (const [options, version] of [
        [{}, "1.0"],
        [{ pinVersion: "1.0" }, "1.0"],
        [{ pinVersion: "1.1" }, "1.1"],
        [{ protocolVersions: ["1.0", "1.1"] }, "1.1"],
      ] as const) {
        await using agent = await connectOver(wire, peer, options);
        await agent.getTask(taskId);
        const last = peer.requests.at(-1);
        expect([last?.wire, last?.header.get(versionHeader)]).toEqual([wire, version]);
      }
    },
  );

  verifies("F-8", "is never another one than its user insists on", async (wire) => {
    await using peer = await startPeer({
      editCard: (card) => {
        const others = card.supportedInterfaces.filter((each) => each.protocolBinding !== bindingOf[wire]);
        offer(card, [{ ...interfaceOf(card, wire), protocolVersion: "0.3" }, ...others]);
      },
    });
    const pinned = { pinBinding: bindingOf[wire], pinVersion: "1.0" };
    const refused = await rejectedWith(connectAgent(peer.url, pinned), NoInterfaceError);
    expect(refused.message).toContain("0.3");
    expect(refused.offered).toHaveLength(5);
    await rejectedWith(connectAgent(peer.url, { pinVersion: "1.1" }), NoInterfaceError);
    expect(peer.requests).toEqual([]);
  });

  verifies("F-8", "is not exchanged for another binding when it cannot be reached", async (wire) => {
    const nobody = await closedAddress();
    const { peer, agent } = await meetPeer(
      wire,
      {},
      {
        retry: { attempts: 2, initialDelayMs: 1 },
        peer: {
          editCard: (card) => {
            interfaceOf(card, wire).url = wire === "grpc" ? nobody : `http://${nobody}/`;
          },
        },
      },
    );
    expect(await failureOf(agent.getTask(taskId))).toMatchObject({ code: "unreachable" });
    expect(peer.requests).toEqual([]);
  });

  verifies("Q-2", "is read from an older card, too, and called in the words of its version", async () => {
    const old: JsonObject = {
      ...createCardJson([]),
      supportedInterfaces: null,
      protocolVersion: "0.3.0",
      preferredTransport: "JSONRPC",
    };
    await using server = await startBrokenServer({
      serveCard: (_, request, response) =>
        request.url === "/.well-known/agent.json"
          ? respondJson(response, { ...old, url: `http://${request.headers.host}/rpc` })
          : void response.writeHead(404).end(),
      answer: ({ id, response, request: { headers } }) => {
        const parts = [versionHeader, extensionsHeader, `x-${extensionsHeader}`].map((name) => ({
          kind: "text",
          text: headers[name.toLowerCase()] ?? "none",
        }));
        respondJson(response, {
          jsonrpc: "2.0",
          id,
          result: { kind: "message", messageId: "m", role: "agent", parts },
        });
      },
    });
    await rejectedWith(connectAgent(server.url, { pinVersion: "1.0" }), NoInterfaceError);
    await using agent = await connectAgent(server.url, { extensions: ["urn:x"] });
    expect(agent.cardWarnings.join()).toContain("0.3");
    const { payload } = await agent.sendMessage("hello");
    expect(server.calls).toEqual(["message/send"]);
    const said = payload.case === "message" ? payload.value.parts.map(({ content }) => content.value) : [];
    expect(said).toEqual(["0.3", "none", "urn:x"]);
  });

  verifies("Q-2", "is called in new words only, where the card has both", async () => {
    await using server = await startBrokenServer({
      serveCard: (card, request, response) =>
        request.url === "/.well-known/agent-card.json"
          ? respondJson(response, {
              ...card,
              url: "http://localhost/old",
              preferredTransport: "JSONRPC",
              protocolVersion: "0.3.0",
              supportsAuthenticatedExtendedCard: true,
            })
          : void response.writeHead(404).end(),
      answer: async ({ id, response, request }) => {
        expect(request.headers["x-a2a-extensions"]).toBeUndefined();
        respondJson(response, {
          jsonrpc: "2.0",
          id,
          result: { message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hi" }] } },
        });
      },
    });
    await using agent = await connectAgent(server.url, { pinBinding: "JSONRPC", extensions: ["urn:x"] });
    await agent.sendMessage("hello");
    expect(server.calls).toEqual(["SendMessage"]); // 0.3 says message/send
  });
});

function interfaceOf(card: AgentCard, wire: Wire): AgentInterface {
  const found = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === bindingOf[wire]);
  if (found === undefined) throw new Error(`the card has no ${wire}`);
  return found;
}

function offer(card: AgentCard, interfaces: readonly MessageInitShape<typeof AgentInterfaceSchema>[]): void {
  card.supportedInterfaces = interfaces.map((each) => create(AgentInterfaceSchema, { ...each }));
}

/** The wires that a peer was called over, each with the tenants in the request. */
function seenBy({ requests }: Peer): readonly string[] {
  return requests.map((request) => [request.wire, ...tenantsIn(request)].join(" "));
}
