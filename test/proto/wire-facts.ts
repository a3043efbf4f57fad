import { readFileSync } from "node:fs";

/** One field, as the wire sees it. */
export interface FieldFacts {
  name: string;
  number: number;
  jsonName: string;
  /** A scalar's name, a full message or enum name, or `map<key, value>`. */
  type: string;
  label: "singular" | "optional" | "repeated" | "map";
  /** The oneof it is a member of. */
  oneof: string | null;
  explicitPresence: boolean;
  required: boolean;
  fieldBehavior?: string[];
  deprecated?: boolean;
  mapKey?: string;
  mapValue?: string;
}

export interface MessageFacts {
  fullName: string;
  fields: FieldFacts[];
  oneofs?: { name: string; fields: string[] }[];
}

export interface EnumFacts {
  fullName: string;
  values: { name: string; number: number }[];
}

export interface HttpRuleFacts {
  verb: string;
  path: string;
  body: string | null;
}

export interface MethodFacts {
  grpcPath: string;
  jsonRpcMethod: string;
  request: string;
  response: string;
  clientStreaming: boolean;
  serverStreaming: boolean;
  /** The rule of the method, then its additional bindings in order. */
  http: HttpRuleFacts[];
  methodSignature: string[];
}

export interface ServiceFacts {
  fullName: string;
  methods: Record<string, MethodFacts>;
}

export interface FileFacts {
  package: string;
  syntax: string;
  imports: string[];
  options: Record<string, string | boolean>;
  services: Record<string, ServiceFacts>;
  messages: Record<string, MessageFacts>;
  enums: Record<string, EnumFacts>;
}

/** A field of google.rpc: the facts name less about it than about the protocol's own. */
type RpcFieldFacts = Pick<FieldFacts, "name" | "number" | "jsonName" | "type" | "label">;

/** What `facts/wire.json` says about A2A 1.0; only the parts that descriptors can tell. */
export interface WireFacts extends FileFacts {
  googleRpc: Record<string, { typeUrl: string; fields: RpcFieldFacts[] }> & { code: Record<string, number> };
}

/** What `facts/wire-1.1-delta.json` says about the draft of A2A 1.1. */
export interface WireDelta {
  addedFields: Record<string, FieldFacts[]>;
  addedErrors: unknown[];
  base: string;
  target: string;
  source: unknown;
  /** Everything else such a delta could hold; all of it is empty. */
  [otherChange: string]: unknown;
}

function readFacts(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`./facts/${name}`, import.meta.url), "utf8"));
}

/** The facts of A2A 1.0. */
export function readWireFacts(): WireFacts {
  return readFacts("wire.json") as WireFacts; // committed beside this file; a wrong shape fails the comparison
}

/** What the draft of A2A 1.1 adds to them. */
export function readWireDelta(): WireDelta {
  return readFacts("wire-1.1-delta.json") as WireDelta; // as above
}
