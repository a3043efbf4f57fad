import { isObject, protocolVersion } from "@a2a-connect/core/internal";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Form, list, record, same, table } from "./form.ts";

/** What a card of 0.3 says of its version. */
const cardVersion = "0.3.0";

/** The kinds of security schemes: the member of 1.0, and the `type` of 0.3. */
const schemeTypes = {
  apiKeySecurityScheme: "apiKey",
  httpAuthSecurityScheme: "http",
  oauth2SecurityScheme: "oauth2",
  openIdConnectSecurityScheme: "openIdConnect",
  mtlsSecurityScheme: "mutualTLS",
} as const;

/** A scheme's members stand beside its type, and not in a member of that name. */
const scheme: Form = {
  ...same,
  toOlder(value) {
    for (const [member, type] of Object.entries(schemeTypes)) {
      const content = (value as JsonObject)[member]; // a message is an object
      if (isObject(content)) {
        const { location, ...rest } = content as JsonObject;
        return { type, ...rest, ...(location === undefined ? {} : { in: location }) };
      }
    }
    return value;
  },
};

/** `{schemes: {name: {list: scopes}}}`, and `{name: scopes}` before. */
const requirement: Form = {
  ...same,
  toOlder(value) {
    const { schemes } = value as JsonObject; // a message is an object
    return Object.fromEntries(
      Object.entries((schemes ?? {}) as JsonObject).map(([name, scopes]) => [
        name,
        (scopes as JsonObject)["list"] ?? [],
      ]),
    );
  },
};

/** The wires that older versions know, by the names of a card. */
const olderTransports = ["JSONRPC", "HTTP+JSON", "GRPC"];

/**
 * A card. Its interfaces are those of 1.0 at the same URLs, where the version of a call decides. A signature is left out,
 * because it is over the other form.
 *
 * @param tenant the tenant of interfaces that calls without one reach, too: older versions have no tenants
 */
export function cardForm(isJson: boolean, tenant = ""): Form {
  const requirements = isJson ? list(requirement) : same;
  const skill = record([
    ["id"],
    ["name"],
    ["description"],
    ["tags"],
    ["examples"],
    ["inputModes"],
    ["outputModes"],
    ["securityRequirements", "security", requirements],
  ]);
  const capabilities = record([["streaming"], ["pushNotifications"], ["extensions"]], {
    addOlder(older) {
      if (isJson) {
        older["stateTransitionHistory"] = true; // every event of a task can be read again
      }
    },
  });
  return record(
    [
      ["name"],
      ["description"],
      ["version"],
      ["provider"],
      ["documentationUrl"],
      ["iconUrl"],
      ["capabilities", "capabilities", capabilities],
      ["securitySchemes", "securitySchemes", isJson ? table(scheme) : same],
      ["securityRequirements", "security", requirements],
      ["defaultInputModes"],
      ["defaultOutputModes"],
      ["skills", "skills", list(skill)],
    ],
    {
      addOlder(older, { supportedInterfaces, capabilities }) {
        const interfaces = olderInterfaces(supportedInterfaces as JsonValue | undefined, tenant); // no list of a card is lazy
        const [preferred] = interfaces;
        older["protocolVersion"] = cardVersion;
        older["url"] = preferred?.url ?? "";
        older["preferredTransport"] = preferred?.transport ?? "JSONRPC";
        older["additionalInterfaces"] = interfaces.map(({ url, transport }) => ({ url, transport }));
        older["supportsAuthenticatedExtendedCard"] =
          isObject(capabilities) && capabilities["extendedAgentCard"] === true;
      },
    },
  );
}

interface OlderInterface {
  readonly url: JsonValue;
  readonly transport: string;
}

function olderInterfaces(interfaces: JsonValue | undefined, reached: string): OlderInterface[] {
  const some = Array.isArray(interfaces) ? interfaces.filter((each) => isObject(each)) : [];
  return some.flatMap(({ url = "", protocolBinding, protocolVersion: version, tenant = "" }) =>
    // The same interface is in the list once for each version that it speaks.
    typeof protocolBinding === "string" &&
    olderTransports.includes(protocolBinding) &&
    version === protocolVersion &&
    ["", reached].includes(tenant as string)
      ? [{ url, transport: protocolBinding }]
      : [],
  );
}

/**
 * A card of 1.0, as JSON, in the form of 0.3.
 *
 * @param tenant as `cardForm` takes it
 */
export function toOlderCard(current: JsonObject, tenant?: string): JsonObject {
  return cardForm(true, tenant).toOlder(current) as JsonObject; // a card is an object
}

/**
 * A card in both forms at once: the members of 0.3 beside those of 1.0. Where a name is in both with different contents,
 * in the capabilities and the security schemes, each has the members of both. A card without an interface that older
 * callers can use stays as it is.
 *
 * @param tenant as `cardForm` takes it
 */
export function mergeOlderCard(current: JsonObject, tenant?: string): JsonObject {
  const older = toOlderCard(current, tenant);
  return older["url"] === "" ? current : merge(current, older);
}

function merge(current: JsonObject, older: JsonObject): JsonObject {
  const merged: JsonObject = { ...older, ...current };
  for (const name of Object.keys(older)) {
    const [one, other] = [current[name], older[name]];
    if (isObject(one) && isObject(other)) {
      merged[name] = merge(one, other);
    } else if (Array.isArray(one) && Array.isArray(other) && name === "skills") {
      merged[name] = one.map((each, index) => merge(each as JsonObject, other[index] as JsonObject));
    }
  }
  return merged;
}
