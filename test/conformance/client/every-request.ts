import { extensionsHeader, versionHeader } from "@a2a-connect/core/internal";
import type { Interceptor } from "@connectrpc/connect";
import { expect } from "vitest";
import { bindingOf } from "../../client/interfaces.ts";
import { clientScenarios } from "./client-scenario.ts";
import { callEverything, connectOver, meetPeer } from "./every-operation.ts";
import { startPeer, taskId } from "./peer.ts";
import { tenantsIn } from "./wire-request.ts";

/** Where a wire carries the tenant. */
const tenantPlace = {
  jsonrpc: "params",
  "http-json": "path",
  grpc: "message",
  "grpc-web": "message",
  connect: "message",
} as const;

/** What all eleven operations have in common, as it is on the wire. */
export const everyRequest = clientScenarios("What every request of the client carries", (verifies) => {
  verifies("F-2", "the version of the interface, without its patch number", async (wire) => {
    await using peer = await startPeer({
      editCard: ({ supportedInterfaces }) => {
        for (const each of supportedInterfaces) each.protocolVersion = "1.0.4";
      },
    });
    const requests = await callEverything(wire, peer);
    expect(requests.map(({ header }) => header.get(versionHeader))).toEqual(requests.map(() => "1.0"));
  });

  verifies("F-2", "no other version, whatever a call's headers say", async (wire) => {
    const { peer, agent } = await meetPeer(wire, {}, { headers: { [versionHeader]: "0.3" } });
    await agent.getTask(taskId, { headers: { [versionHeader]: "0.2" } });
    expect(peer.requests.map(({ header }) => header.get(versionHeader))).toEqual(["1.0"]);
  });

  verifies("P-1 P-3", "exactly the tenant of the interface, in one place", async (wire) => {
    await using peer = await startPeer({
      editCard: ({ supportedInterfaces }) => {
        for (const each of supportedInterfaces) each.tenant = `${each.protocolBinding} & söhne`;
      },
    });
    const requests = await callEverything(wire, peer);
    const tenant = `${bindingOf[wire]} & söhne`;
    expect(requests.map(tenantsIn)).toEqual(requests.map(() => [`${tenantPlace[wire]}: ${tenant}`]));
  });

  verifies("P-1", "no tenant where the interface has none, also when a caller writes one", async (wire) => {
    await using peer = await startPeer();
    await callEverything(wire, peer);
    await using agent = await connectOver(wire, peer);
    await agent.rpc.getTask({ id: taskId, tenant: "mine" });
    expect(peer.requests.map(tenantsIn)).toEqual(peer.requests.map(() => []));
  });

  verifies("G-2", "the extensions that are asked for, in one entry", async (wire) => {
    await using peer = await startPeer();
    const requests = await callEverything(wire, peer, {
      extensions: ["urn:x", "urn:y"],
      headers: { [extensionsHeader]: "urn:z, urn:x" },
    });
    expect(requests.map(({ header }) => header.get(extensionsHeader))).toEqual(
      requests.map(() => "urn:x,urn:y,urn:z"),
    );
  });

  verifies("G-6", "no extension that nobody asked for", async (wire) => {
    await using peer = await startPeer();
    const requests = await callEverything(wire, peer);
    expect(requests.filter(({ header }) => header.has(extensionsHeader))).toEqual([]);
  });

  verifies("O-5", "the credentials that a provider gives for it", async (wire) => {
    await using peer = await startPeer();
    let given = 0;
    const signIn: Interceptor = (next) => async (request) => {
      given += 1;
      request.header.set("authorization", `Bearer ${await Promise.resolve(given)}`);
      return next(request);
    };
    const requests = await callEverything(wire, peer, { interceptors: [signIn] });
    expect(requests.map(({ header }) => header.get("authorization"))).toEqual(
      requests.map((_, index) => `Bearer ${index + 1}`),
    );
  });

  verifies("O-5", "the credentials that its user has set, and so does the card's", async (wire) => {
    await using peer = await startPeer();
    const requests = await callEverything(wire, peer, { headers: { authorization: "Bearer secret" } });
    for (const header of [...peer.cardRequests, ...requests.map((request) => request.header)]) {
      expect(header.get("authorization")).toBe("Bearer secret");
    }
    // Headers are the only place: identity never travels in what a request says.
    for (const { path, body } of requests) {
      expect(path + new TextDecoder().decode(body)).not.toContain("secret");
    }
  });

  verifies("K-3", "which JSON it takes and which it is", async (wire) => {
    await using peer = await startPeer();
    for (const { header, body } of await callEverything(wire, peer)) {
      expect(header.get("accept")).toMatch(/application\/a2a\+json, application\/json$/);
      expect(header.get("content-type")).toBe(body.length === 0 ? null : "application/a2a+json");
    }
  });
});
