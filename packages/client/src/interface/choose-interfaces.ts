import {
  draftProtocolVersion,
  parseProtocolVersion,
  protocolVersion,
  shownText,
} from "@a2a-connect/core/internal";
import type { AgentCard, AgentInterface } from "@a2a-connect/proto";
import { NoInterfaceError } from "../errors.ts";
import type { ConnectOptions } from "../options.ts";
import type { BindingTransport } from "../platform.ts";
import { shownList } from "./shown-list.ts";

/** An interface that both sides know. */
export interface Candidate {
  readonly interface: AgentInterface;
  readonly binding: BindingTransport;
  /** The value of `A2A-Version`: `Major.Minor` of the interface. */
  readonly protocolVersion: string;
}

/** The options that decide which interfaces may be used. */
export type ChoiceOptions = Pick<
  ConnectOptions,
  "bindings" | "pinBinding" | "pinVersion" | "protocolVersions" | "platform"
>;

/**
 * The interfaces of a card that may be used, best first: in the card's order (requirement L-3), or by the caller's
 * order of bindings. Versions are compared by major and minor (F-1). A pinned binding or version allows no other (F-8).
 *
 * @param wires the built-in ones; those of the platform come first
 * @throws NoInterfaceError with what the card offers and what was wanted, when there is none
 */
export function chooseInterfaces(
  card: AgentCard,
  options: ChoiceOptions,
  wires: readonly BindingTransport[],
): readonly Candidate[] {
  const wanted = wantedVersions(options);
  // The first of a binding counts.
  const known = [...(options.platform?.transports ?? []), ...wires].reverse();
  const transports = new Map(known.map((each) => [each.binding, each]));
  const bindings = options.pinBinding === undefined ? options.bindings : [options.pinBinding];
  const candidates = card.supportedInterfaces.flatMap((each) => {
    const version = parseProtocolVersion(each.protocolVersion);
    const binding = transports.get(each.protocolBinding);
    const permitted = bindings === undefined || bindings.includes(each.protocolBinding);
    return binding !== undefined && permitted && wanted.includes(version) && spoken.includes(version)
      ? [{ interface: each, binding, protocolVersion: version }]
      : [];
  });
  if (candidates.length === 0) {
    throw explain(card, { options, wanted, bindings, known: [...transports.keys()].reverse() });
  }
  return bindings === undefined
    ? candidates
    : bindings.flatMap((name) => candidates.filter(({ binding }) => binding.binding === name));
}

/** The protocol versions for which this library has messages. */
const spoken: readonly string[] = [protocolVersion, draftProtocolVersion];

function wantedVersions({ pinVersion, protocolVersions = [protocolVersion] }: ChoiceOptions): string[] {
  return (pinVersion === undefined ? protocolVersions : [pinVersion]).map((each) =>
    parseProtocolVersion(each),
  );
}

interface Choice {
  readonly options: ChoiceOptions;
  readonly wanted: readonly string[];
  readonly bindings: readonly string[] | undefined;
  /** Bindings for which there are transports. */
  readonly known: readonly string[];
}

/** Names the first obstacle. */
function explain(card: AgentCard, choice: Choice): NoInterfaceError {
  const offered = card.supportedInterfaces;
  const offer = `The card offers ${offeredVersions(offered)}`;
  const fail = (reason: string, hint: string) =>
    new NoInterfaceError(`${offer}, ${reason}.`, offered, { hint });
  const { options, wanted, bindings, known } = choice;
  const unspoken = wanted.filter((version) => !spoken.includes(version));
  if (unspoken.length > 0 && unspoken.length === wanted.length) {
    return fail(
      `and A2A ${shownList(unspoken)} is asked for, which this client does not speak`,
      `This client speaks ${spoken.join(" and ")}.`,
    );
  }
  const ofVersion = offered.filter(({ protocolVersion: version }) =>
    wanted.includes(parseProtocolVersion(version)),
  );
  if (ofVersion.length === 0) {
    return explainVersion(fail, offered, choice);
  }
  const callable = ofVersion.filter(({ protocolBinding }) => known.includes(protocolBinding));
  if (
    options.pinBinding !== undefined &&
    !ofVersion.some((each) => each.protocolBinding === options.pinBinding)
  ) {
    return fail(
      `and the binding is pinned to ${shownText(options.pinBinding)}${versionPhrase(choice)}`,
      "Pin a binding that the card has, or none.",
    );
  }
  if (callable.length > 0 && bindings !== undefined && bindings.some((each) => known.includes(each))) {
    return fail(
      `and only ${shownList(bindings)} may be used${versionPhrase(choice)}`,
      "Permit a binding that the card has, or leave out `bindings`.",
    );
  }
  return explainBinding(fail, ofVersion, choice);
}

function explainVersion(
  fail: (reason: string, hint: string) => NoInterfaceError,
  offered: readonly AgentInterface[],
  { options, wanted }: Choice,
): NoInterfaceError {
  const versions = offered.map(({ protocolVersion: version }) => parseProtocolVersion(version));
  const spokenOffer = versions.filter((version) => spoken.includes(version));
  if (options.pinVersion !== undefined) {
    return fail(
      `and the version is pinned to ${shownText(options.pinVersion)}`,
      spokenOffer.length > 0
        ? "Pin a version that the card has, or none."
        : "Ask the operator of the agent for an interface of that version.",
    );
  }
  return spokenOffer.length > 0
    ? fail(
        `and only ${shownList(wanted)} may be used`,
        `Permit it with \`protocolVersions: ${JSON.stringify([...new Set(spokenOffer)])}\`.`,
      )
    : fail(
        `which this client does not speak: it wants ${shownList(wanted)}`,
        "Ask the operator of the agent for an interface of A2A 1.0.",
      );
}

function explainBinding(
  fail: (reason: string, hint: string) => NoInterfaceError,
  ofVersion: readonly AgentInterface[],
  { bindings, known }: Choice,
): NoInterfaceError {
  const needsNode =
    !known.includes("GRPC") &&
    ofVersion.some(({ protocolBinding }) => protocolBinding === "GRPC") &&
    (bindings === undefined || bindings.includes("GRPC"));
  return fail(
    `and this client can call ${shownList(known)}`,
    needsNode
      ? "GRPC needs HTTP/2 from Node: use connectAgent of @a2a-connect/node/client."
      : "Give a transport for its binding as `platform.transports`, or ask the operator for one of these bindings.",
  );
}

function versionPhrase({ options, wanted }: Choice): string {
  return options.pinVersion === undefined && options.protocolVersions === undefined
    ? ""
    : `, of version ${shownList(wanted)}`;
}

/** `only A2A 0.3 (JSONRPC, GRPC)`, or by version. */
function offeredVersions(offered: readonly AgentInterface[]): string {
  const byVersion = new Map<string, string[]>();
  for (const { protocolVersion: version, protocolBinding } of offered) {
    const key = parseProtocolVersion(version);
    byVersion.set(key, [...(byVersion.get(key) ?? []), protocolBinding]);
  }
  const texts = [...byVersion].map(([version, names]) => `A2A ${shownText(version)} (${shownList(names)})`);
  return texts.length === 0 ? "no interface" : `only ${texts.slice(0, maxVersions).join(" and ")}`;
}

/** How many versions a sentence names: a card may invent any number. */
const maxVersions = 4;
