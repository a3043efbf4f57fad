import { cardPath, type PassingAnswer } from "../altering-proxy.ts";
import type { Json } from "./faulty-json.ts";
import type { Mutant } from "./mutant.ts";

/** Changes the card. */
function carding(change: (card: Json) => unknown): NonNullable<Mutant["alter"]> {
  return (answer) => {
    if (!isCard(answer)) return;
    const card = JSON.parse(answer.body);
    answer.body = JSON.stringify(change(card) ?? card);
  };
}

const isCard = ({ path, status }: PassingAnswer): boolean => path === cardPath && status === 200;

/** What a server may do wrong in its card. */
export const cardMutants: readonly Mutant[] = (
  [
    {
      name: "has a card without a description",
      ids: "L-1",
      says: /description/,
      alter: carding(({ description: _description, ...card }) => card),
    },
    {
      name: "has a card without skills",
      ids: "L-1",
      says: /skills/,
      alter: carding(({ skills: _skills, ...card }) => card),
    },
    {
      name: "names its preferred interface at an address where nothing answers",
      ids: "L-1",
      says: /answers over each wire of version 1\.0 that it names/,
      alter: carding((card) => {
        card.supportedInterfaces[0].url = "localhost:9";
      }),
    },
    {
      name: "names HTTP+JSON at the address of JSON-RPC",
      ids: "L-1",
      says: /answers over each wire of version 1\.0 that it names/,
      alter: carding((card) => {
        for (const each of card.supportedInterfaces) each.url = each.url.replace(/\/rest$/, "/rpc");
      }),
    },
    {
      name: "names a binding that is none",
      ids: "L-4",
      says: /names its bindings as the specification does, or by a URI.*REST/,
      alter: carding((card) => {
        for (const each of card.supportedInterfaces) {
          if (each.protocolBinding === "HTTP+JSON") each.protocolBinding = "REST";
        }
      }),
    },
    {
      name: "names a version with a patch number",
      ids: "F-1",
      says: /version|1\.0\.0/,
      alter: carding((card) => {
        card.supportedInterfaces[0].protocolVersion = "1.0.0";
      }),
    },
    {
      name: "gives the address of gRPC as a URL",
      ids: "J-2",
      says: /gives the address of gRPC as a bare host and port/,
      alter: carding((card) => {
        for (const each of card.supportedInterfaces) {
          if (each.protocolBinding === "GRPC") each.url = `http://${each.url}`;
        }
      }),
    },
    {
      name: "has members in its card that are none",
      ids: "L-7",
      says: /writes its card by the schema.*vendor is no member of AgentCard/,
      alter: carding((card) => ({ ...card, vendor: "us" })),
    },
    {
      name: "writes its card in snake_case",
      ids: "L-7",
      says: /default_input_modes/,
      alter: carding(({ defaultInputModes, ...card }) => ({
        ...card,
        default_input_modes: defaultInputModes,
      })),
    },
    {
      name: "declares skills without tags",
      ids: "L-1",
      says: /tags/,
      alter: carding((card) => {
        for (const skill of card.skills) delete skill.tags;
      }),
    },
    {
      name: "serves its card as text/html",
      ids: "L-1",
      says: /is public JSON.*text\/html/,
      alter(answer) {
        if (isCard(answer)) answer.headers.set("content-type", "text/html");
      },
    },
    {
      name: "serves its card without a tag",
      ids: "L-5",
      says: /how long it may be kept, and has a tag/,
      alter: ({ headers }) => headers.delete("etag"),
    },
    {
      name: "sends the card again to those who have it",
      ids: "L-5",
      says: /is not sent again to a caller who names its tag/,
      ask: ({ headers }) => {
        headers.delete("if-none-match");
        return undefined;
      },
    },
    {
      name: "shows its card only to callers of 1.0",
      ids: "F-9",
      says: /shows its card to callers who say no version, or another/,
      ask: ({ path, headers }) =>
        path === cardPath && headers.has("a2a-version") && headers.get("a2a-version") !== "1.0"
          ? { status: 400, type: "application/json", body: '{"error":{"code":400,"message":"version"}}' }
          : undefined,
    },
    {
      name: "declares an extension without a URI",
      ids: "G-1",
      says: /gives every extension in its card a URI of its own/,
      server: "required-extension",
      alter: carding((card) => {
        card.capabilities.extensions.push({ description: "Has no name." });
      }),
    },
    {
      name: "demands a scheme that it does not describe",
      ids: "L-9",
      says: /demands only schemes that its card describes/,
      server: "credentials",
      alter: carding((card) => {
        card.securitySchemes = {};
      }),
    },
    {
      name: "pads the header of its signature",
      ids: "M-2",
      says: /without padding/,
      server: "signed",
      alter: carding((card) => {
        for (const signature of card.signatures) signature.protected += "=";
      }),
    },
    {
      name: "does not say which key has signed",
      ids: "M-2",
      says: /a header with an algorithm and a key/,
      server: "signed",
      alter: carding((card) => {
        for (const signature of card.signatures) {
          const { kid: _kid, ...header } = JSON.parse(
            Buffer.from(signature.protected, "base64url").toString(),
          );
          signature.protected = Buffer.from(JSON.stringify(header)).toString("base64url");
        }
      }),
    },
  ] satisfies readonly Omit<Mutant, "place">[]
).map((mutant) => ({ ...mutant, place: "card" }));
