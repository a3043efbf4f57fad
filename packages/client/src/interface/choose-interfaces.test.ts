import { describe, expect, it } from "vitest";
import { agentCard, agentInterface, cardJson02, cardJson03 } from "../../test-support/cards.ts";
import { readCard } from "../card/read-card.ts";
import { NoInterfaceError } from "../errors.ts";
import type { BindingTransport } from "../platform.ts";
import { webTransports } from "../transports/web-transports.ts";
import { type ChoiceOptions, chooseInterfaces } from "./choose-interfaces.ts";

const grpc: BindingTransport = {
  binding: "GRPC",
  open: () => {
    throw new Error("never opened");
  },
};
const ownJsonRpc: BindingTransport = { ...grpc, binding: "JSONRPC" };
const node = { transports: [grpc] };

/** A card with these interfaces, `binding version`, best first. */
const offering = (...offers: string[]) =>
  agentCard({
    supportedInterfaces: offers.map((offer) => {
      const [protocolBinding = "", protocolVersion = ""] = offer.split(" ");
      return agentInterface({ protocolBinding, protocolVersion, url: `https://clerk.example/${offer}` });
    }),
  });

const choiceOf = (card: ReturnType<typeof agentCard>, options: ChoiceOptions) =>
  chooseInterfaces(card, options, webTransports).map(
    (each) => `${each.interface.protocolBinding} ${each.protocolVersion}`,
  );

describe("the interfaces that are used (L-3)", () => {
  it("are 16 at most, because a card may name very many servers", () => {
    const many = offering(...Array.from({ length: 1_000 }, () => "JSONRPC 1.0"), "HTTP+JSON 1.0");
    expect(choiceOf(many, {})).toHaveLength(16);
    expect(choiceOf(many, { bindings: ["HTTP+JSON", "JSONRPC"] })[0]).toBe("HTTP+JSON 1.0");
  });

  for (const [offers, options, chosen] of [
    [["JSONRPC 1.0"], {}, ["JSONRPC 1.0"]],
    [["GRPC 1.0", "JSONRPC 1.0"], {}, ["JSONRPC 1.0"]],
    [["GRPC 1.0", "JSONRPC 1.0"], { platform: node }, ["GRPC 1.0", "JSONRPC 1.0"]],
    [["urn:x 1.0", "HTTP+JSON 1.0", "JSONRPC 1.0"], {}, ["HTTP+JSON 1.0", "JSONRPC 1.0"]],
    [["JSONRPC 0.3", "JSONRPC 1.0"], {}, ["JSONRPC 1.0"]],
    [["JSONRPC 1.0.7"], {}, ["JSONRPC 1.0"]],
    [["JSONRPC 1.1", "JSONRPC 1.0"], {}, ["JSONRPC 1.0"]],
    [["JSONRPC 0.3"], {}, ["JSONRPC 0.3"]],
    [["JSONRPC 0.2", "HTTP+JSON 0.3"], {}, ["HTTP+JSON 0.3"]],
    [["HTTP+JSON 0.2", "JSONRPC 0.2"], {}, ["JSONRPC 0.2"]],
    [["JSONRPC 0.3", "urn:x 1.0"], {}, ["JSONRPC 0.3"]],
    [["GRPC 1.0", "JSONRPC 0.3"], { platform: node }, ["GRPC 1.0"]],
    [["JSONRPC 1.0", "JSONRPC 0.3"], { pinVersion: "0.3" }, ["JSONRPC 0.3"]],
    [["JSONRPC 0.3", "JSONRPC 1.0"], { protocolVersions: ["1.0", "0.3"] }, ["JSONRPC 0.3", "JSONRPC 1.0"]],
    [["JSONRPC 1.1", "JSONRPC 1.0"], { protocolVersions: ["1.0", "1.1"] }, ["JSONRPC 1.1", "JSONRPC 1.0"]],
    [["JSONRPC 1.1", "JSONRPC 1.0"], { pinVersion: "1.0.3" }, ["JSONRPC 1.0"]],
    [["JSONRPC 1.1", "JSONRPC 1.0"], { pinVersion: "1.1", protocolVersions: ["1.0"] }, ["JSONRPC 1.1"]],
    [
      ["JSONRPC 1.0", "HTTP+JSON 1.0"],
      { bindings: ["HTTP+JSON", "JSONRPC"] },
      ["HTTP+JSON 1.0", "JSONRPC 1.0"],
    ],
    [["JSONRPC 1.0", "HTTP+JSON 1.0"], { bindings: ["HTTP+JSON"] }, ["HTTP+JSON 1.0"]],
    [["JSONRPC 1.0", "HTTP+JSON 1.0"], { pinBinding: "HTTP+JSON", bindings: ["JSONRPC"] }, ["HTTP+JSON 1.0"]],
    [["JSONRPC 1.0", "JSONRPC 1.0"], { pinBinding: "JSONRPC" }, ["JSONRPC 1.0", "JSONRPC 1.0"]],
    [["HTTP+JSON 1.0"], { bindings: ["urn:x", "GRPC", "HTTP+JSON"] }, ["HTTP+JSON 1.0"]],
  ] satisfies [string[], ChoiceOptions, string[]][]) {
    it(`are ${chosen.join(", ")} of ${offers.join(", ")} with ${JSON.stringify(options)}`, () => {
      expect(choiceOf(offering(...offers), options)).toEqual(chosen);
    });
  }

  it("are called by the platform's own transport of a binding before the built-in one", () => {
    const [candidate] = chooseInterfaces(
      offering("JSONRPC 1.0"),
      { platform: { transports: [ownJsonRpc] } },
      webTransports,
    );
    expect(candidate?.binding).toBe(ownJsonRpc);
    const [builtIn] = chooseInterfaces(offering("JSONRPC 1.0"), {}, webTransports);
    expect(webTransports).toContain(builtIn?.binding);
  });
});

describe("no interface that may be used (F-8)", () => {
  for (const [offers, options, message, hint] of [
    [
      ["JSONRPC 0.1"],
      {},
      /only A2A 0\.1 \(JSONRPC\), which this client does not speak: it wants 1\.0, 0\.3, 0\.2/,
      /operator/,
    ],
    [
      ["HTTP+JSON 0.2"],
      {},
      /only A2A 0\.2 \(HTTP\+JSON\), and this client can call JSONRPC/,
      /platform\.transports/,
    ],
    [["GRPC 0.3"], {}, /only A2A 0\.3 \(GRPC\), and this client can call/, /GRPC needs HTTP\/2 from Node/],
    [["JSONRPC 2.0"], {}, /only A2A 2\.0 \(JSONRPC\), which this client does not speak/, /operator/],
    [
      ["JSONRPC 1.1"],
      {},
      /only A2A 1\.1 \(JSONRPC\), and only 1\.0, 0\.3, 0\.2 may be used/,
      /protocolVersions: \["1\.1"\]/,
    ],
    [
      ["GRPC 1.0"],
      {},
      /A2A 1\.0 \(GRPC\).*can call JSONRPC, HTTP\+JSON/,
      /GRPC needs HTTP\/2 from Node.*node\/client/,
    ],
    [["urn:x 1.0"], {}, /A2A 1\.0 \(urn:x\).*can call JSONRPC/, /platform\.transports/],
    [
      ["JSONRPC 1.0"],
      { pinBinding: "GRPC", platform: node },
      /\(JSONRPC\), and the binding is pinned to GRPC/,
      /Pin/,
    ],
    [
      ["JSONRPC 1.0"],
      { pinVersion: "1.1" },
      /A2A 1\.0 \(JSONRPC\), and the version is pinned to 1\.1/,
      /Pin/,
    ],
    [["JSONRPC 0.3"], { pinVersion: "1.0" }, /A2A 0\.3.*pinned to 1\.0/, /Pin/],
    [["JSONRPC 0.1"], { pinVersion: "1.0" }, /A2A 0\.1.*pinned to 1\.0/, /operator/],
    [["JSONRPC 1.0"], { pinVersion: "0.3" }, /A2A 1\.0.*pinned to 0\.3/, /Pin/],
    [
      ["JSONRPC 0.1"],
      { pinVersion: "0.1" },
      /0\.1 is asked for, which this client does not speak/,
      /1\.0, 1\.1, 0\.3, 0\.2/,
    ],
    [["JSONRPC 1.0"], { protocolVersions: ["0.1", "2.0"] }, /0\.1, 2\.0 is asked for/, /speaks/],
    [
      ["JSONRPC 1.0"],
      { bindings: ["HTTP+JSON"] },
      /\(JSONRPC\), and only HTTP\+JSON may be used/,
      /bindings/,
    ],
    [["JSONRPC 1.0", "GRPC 1.0"], { pinBinding: "GRPC" }, /JSONRPC, GRPC/, /GRPC needs HTTP\/2/],
    [
      ["JSONRPC 0.3", "GRPC 1.0"],
      { pinBinding: "JSONRPC", pinVersion: "1.0", platform: node },
      /0\.3 \(JSONRPC\) and A2A 1\.0 \(GRPC\), and the binding is pinned to JSONRPC, of version 1\.0/,
      /Pin/,
    ],
  ] satisfies [string[], ChoiceOptions, RegExp, RegExp][]) {
    it(`is told with what there is: ${offers.join(", ")} with ${JSON.stringify(options)}`, () => {
      const card = offering(...offers);
      let thrown: unknown;
      try {
        chooseInterfaces(card, options, webTransports);
      } catch (error) {
        thrown = error;
      }
      if (!(thrown instanceof NoInterfaceError)) throw thrown;
      expect(thrown.message).toMatch(message);
      expect(thrown.hint).toMatch(hint);
      expect(thrown.offered).toBe(card.supportedInterfaces);
    });
  }

  for (const [json, version] of [
    [cardJson03, /only A2A 0\.3 \(JSONRPC, GRPC, HTTP\+JSON\)/],
    [cardJson02, /only A2A 0\.2 \(JSONRPC\)/],
  ] as const) {
    it(`is told of an older card by its dialect: ${version.source}`, async () => {
      const { card } = await readCard(JSON.stringify(json));
      expect(() => chooseInterfaces(card, { pinVersion: "1.0" }, webTransports)).toThrow(version);
    });
  }
});
