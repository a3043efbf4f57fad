import type { VectorCase } from "../vector-case.ts";
import { always, refused } from "../verdicts.ts";

const rest = `"version":"1.0.0",
  "supportedInterfaces":[{"url":"https://agent.example.com/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
  "capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
  "securitySchemes":{"login":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://login.example.com/.well-known/openid-configuration"}}},
  "securityRequirements":[{"schemes":{"login":{"list":["read"]}}}],
  "signatures":$SIGNATURES`;
const skills = `"skills":[{"id":"forecast","name":"Forecast","description":"Forecasts the weather.","tags":["weather"]}]`;
const names = `"name":"Weather Agent","description":"Tells the weather."`;

function faulty(
  name: string,
  fault: string,
  description: string,
  rule: readonly string[],
  cardText: string,
): VectorCase {
  return { name, description, rule, cardText, canonical: { fault }, expected: always(refused(fault)) };
}

/**
 * Texts that have no one meaning, so no canonical form. Each is signed as a reader would who takes the one of two meanings for
 * which the signature is right.
 */
export const textFaultCases: readonly VectorCase[] = [
  faulty(
    "duplicate-member",
    "duplicate-member",
    "Two members have the same name: parsers disagree on which one counts, though the last one is what was signed.",
    ["M", "RFC 8785 §3.1", "RFC 7493 §2.3"],
    `{"name":"Somebody Else",${names},${rest},${skills}}`,
  ),
  faulty(
    "duplicate-member-escaped",
    "duplicate-member",
    "The same, hidden by an escape in the name.",
    ["M", "RFC 8785 §3.1"],
    `{"n\\u0061me":"Somebody Else",${names},${rest},${skills}}`,
  ),
  faulty(
    "duplicate-member-nested",
    "duplicate-member",
    "The same, in an interface: which URL is called?",
    ["M", "RFC 8785 §3.1"],
    `{${names},${rest.replace('"url":', '"url":"https://evil.example/a2a","url":')},${skills}}`,
  ),
  faulty(
    "duplicate-signatures",
    "duplicate-member",
    "Two lists of signatures.",
    ["M", "RFC 8785 §3.1"],
    `{"signatures":[],${names},${rest},${skills}}`,
  ),
  faulty(
    "duplicate-member-unknown",
    "duplicate-member",
    "The same in a member that nobody knows.",
    ["M", "M-6"],
    `{${names},${rest},${skills},"newMember":{"a":1,"a":1}}`,
  ),
  faulty(
    "both-spellings",
    "both-spellings",
    "A member in both of its spellings, even with the same value.",
    ["H-14", "M"],
    `{${names},${rest},${skills},"default_input_modes":["text/plain"]}`,
  ),
  faulty(
    "lone-surrogate",
    "lone-surrogate",
    "Half of a surrogate pair is no character: it has no UTF-8, and so nothing that could be signed.",
    ["RFC 8785 §3.1", "RFC 7493 §2.1"],
    `{${names.replace("Tells", "\\ud83dTells")},${rest},${skills}}`,
  ),
  faulty(
    "lone-surrogate-name",
    "lone-surrogate",
    "The same in the name of a member.",
    ["RFC 8785 §3.1", "RFC 7493 §2.1"],
    `{${names},${rest},${skills},"\\udc00":1}`,
  ),
  faulty(
    "number-out-of-range",
    "number-out-of-range",
    "A number that no double can hold: parsers make infinity of it, or something else.",
    ["RFC 8785 §3.1", "RFC 7493 §2.2"],
    `{${names},${rest},${skills},"newMember":1e400}`,
  ),
  faulty(
    "raw-control-character",
    "not-json",
    "A control character that is not escaped: this is no JSON.",
    ["RFC 8259 §7"],
    `{${names.replace("Tells", "\u0007Tells")},${rest},${skills}}`,
  ),
  faulty(
    "trailing-text",
    "not-json",
    "Something stands behind the card.",
    ["RFC 8259 §2"],
    `{${names},${rest},${skills}} {}`,
  ),
  faulty(
    "byte-order-mark",
    "not-json",
    "U+FEFF before the card: JSON has no place for it.",
    ["RFC 8259 §8.1"],
    `\ufeff{${names},${rest},${skills}}`,
  ),
  faulty(
    "not-an-object",
    "not-an-object",
    "A card is an object.",
    ["§8.4"],
    `[{${names},${rest},${skills}}]`,
  ),
  faulty("empty-text", "not-json", "No text at all.", ["RFC 8259 §2"], ""),
  faulty(
    "params-too-deep",
    "too-deep",
    "120 objects within each other.",
    ["M", "RFC 8259 §9"],
    `{${names},${rest.replace('{"streaming":true}', `{"extensions":[{"params":${'{"a":'.repeat(120)}1${"}".repeat(120)}}]}`)},${skills}}`,
  ),
  {
    name: "mebibyte-of-spaces",
    description: "1 MiB and a character of spaces: larger than any card that is read.",
    rule: ["M", "O-10"],
    cardTextRepeat: [" ", 1_048_577],
    canonical: { fault: "not-json" },
    expected: always(refused("too-large")),
  },
  {
    name: "mebibyte-of-brackets",
    description:
      "1 MiB of `[`: refused at the hundredth, in a time and with a stack that do not depend on how many follow.",
    rule: ["M", "O-10", "RFC 8259 §9"],
    cardTextRepeat: ["[", 1_048_576],
    canonical: { fault: "too-deep" },
    expected: always(refused("too-deep")),
  },
];
