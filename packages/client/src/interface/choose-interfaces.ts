import {
  draftProtocolVersion,
  parseProtocolVersion,
  protocolVersion,
  shownList,
  shownText,
  shownUrl,
} from "@a2a-connect/core/internal";
import type { AgentCard, AgentInterface } from "@a2a-connect/proto";
import { NoInterfaceError } from "../errors.ts";
import type { ConnectOptions } from "../options.ts";
import type { BindingTransport } from "../platform.ts";

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
 * Unless the caller names versions, all interfaces are of one: the newest that both sides know. There are 16 at most.
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
  const known = [...(options.platform?.transports ?? []), ...wires];
  const bindings = options.pinBinding === undefined ? options.bindings : [options.pinBinding];
  const candidates = card.supportedInterfaces.flatMap((each) => {
    const binding = findTransport(known, each);
    const permitted = bindings === undefined || bindings.includes(each.protocolBinding);
    const version = parseProtocolVersion(each.protocolVersion);
    return binding !== undefined && permitted && wanted.includes(version)
      ? [{ interface: each, binding, protocolVersion: version }]
      : [];
  });
  if (candidates.length === 0) {
    throw explain(card, { options, wanted, bindings, known });
  }
  const newest = areNamed(options)
    ? undefined
    : usualVersions.find((version) => candidates.some(isOf(version)));
  const chosen = newest === undefined ? candidates : candidates.filter(isOf(newest));
  const ordered =
    bindings === undefined
      ? chosen
      : bindings.flatMap((name) => chosen.filter(({ binding }) => binding.binding === name));
  return ordered.slice(0, maxInterfaces);
}

/** A card of 1 MiB can name 15,000, each on another server: one call that may be repeated would go to all of them. */
const maxInterfaces = 16;

function isOf(version: string): (candidate: Candidate) => boolean {
  return (candidate) => candidate.protocolVersion === version;
}

/** The transport for an interface; the first one that fits counts. */
function findTransport(
  known: readonly BindingTransport[],
  { protocolBinding, protocolVersion: version }: AgentInterface,
): BindingTransport | undefined {
  return known.find(
    (each) => each.binding === protocolBinding && versionsOf(each).includes(parseProtocolVersion(version)),
  );
}

function versionsOf({
  versions = [protocolVersion, draftProtocolVersion],
}: BindingTransport): readonly string[] {
  return versions;
}

/** What is used of a card when its caller names no version, the best first. */
const usualVersions: readonly string[] = [protocolVersion, "0.3", "0.2"];

function wantedVersions({ pinVersion, protocolVersions = usualVersions }: ChoiceOptions): string[] {
  return (pinVersion === undefined ? protocolVersions : [pinVersion]).map((each) =>
    parseProtocolVersion(each),
  );
}

/** Whether the caller says which versions may be used. */
function areNamed({ pinVersion, protocolVersions }: ChoiceOptions): boolean {
  return (pinVersion ?? protocolVersions) !== undefined;
}

interface Choice {
  readonly options: ChoiceOptions;
  readonly wanted: readonly string[];
  readonly bindings: readonly string[] | undefined;
  readonly known: readonly BindingTransport[];
}

/** Names the first obstacle. */
function explain(card: AgentCard, choice: Choice): NoInterfaceError {
  const offered = card.supportedInterfaces;
  const offer = `The card offers ${offeredVersions(offered)}`;
  const fail = (reason: string, hint: string) =>
    new NoInterfaceError(`${offer}, ${reason}.`, offered, { hint });
  const { options, wanted, bindings, known } = choice;
  const spoken = spokenBy(known);
  const unspoken = wanted.filter((version) => !spoken.includes(version));
  if (unspoken.length > 0 && unspoken.length === wanted.length) {
    return fail(
      `and A2A ${shownList(unspoken)} is asked for, which this client does not speak`,
      `This client speaks ${shownList(spoken)}.`,
    );
  }
  const ofVersion = offered.filter(({ protocolVersion: version }) =>
    wanted.includes(parseProtocolVersion(version)),
  );
  if (ofVersion.length === 0) {
    return explainVersion(fail, offered, choice);
  }
  const callable = ofVersion.filter((each) => findTransport(known, each) !== undefined);
  if (
    options.pinBinding !== undefined &&
    !ofVersion.some((each) => each.protocolBinding === options.pinBinding)
  ) {
    return fail(
      `and the binding is pinned to ${shownText(options.pinBinding)}${versionPhrase(choice)}`,
      "Pin a binding that the card has, or none.",
    );
  }
  if (
    callable.length > 0 &&
    bindings !== undefined &&
    bindings.some((each) => callableOf(choice).includes(each))
  ) {
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
  { options, wanted, known }: Choice,
): NoInterfaceError {
  const spoken = spokenBy(known);
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
  choice: Choice,
): NoInterfaceError {
  const { bindings } = choice;
  const known = callableOf(choice);
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

/** The bindings for which there are transports of the wanted versions. */
function callableOf({ known, wanted }: Choice): readonly string[] {
  return known
    .filter((each) => versionsOf(each).some((version) => wanted.includes(version)))
    .map(({ binding }) => binding);
}

/** The protocol versions for which there are transports. */
function spokenBy(known: readonly BindingTransport[]): readonly string[] {
  return [...new Set(known.flatMap(versionsOf))];
}

function versionPhrase({ options, wanted }: Choice): string {
  return options.pinVersion === undefined && options.protocolVersions === undefined
    ? ""
    : `, of version ${shownList(wanted)}`;
}

/** `only A2A 0.3 (JSONRPC, GRPC)`, or by version. */
function offeredVersions(offered: readonly AgentInterface[]): string {
  const byVersion = Map.groupBy(offered, ({ protocolVersion: version }) => parseProtocolVersion(version));
  const texts = [...byVersion]
    .slice(0, maxVersions)
    .map(
      ([version, those]) =>
        `A2A ${shownText(version)} (${shownList(those.map(({ protocolBinding }) => protocolBinding))})`,
    );
  return texts.length === 0 ? "no interface" : `only ${texts.join(" and ")}`;
}

/** How many versions a sentence names: a card may invent any number. */
const maxVersions = 4;

/** An interface in a sentence: `JSONRPC at https://agent.example/rpc`. */
export function shownInterface({ protocolBinding, url }: AgentInterface): string {
  return `${shownText(protocolBinding)} at ${shownUrl(url)}`;
}
