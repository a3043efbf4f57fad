import { fileURLToPath } from "node:url";
import {
  type CallOptions,
  type ChannelOptions,
  type ClientReadableStream,
  type ClientUnaryCall,
  credentials,
  loadPackageDefinition,
  Metadata,
  type PackageDefinition,
  type ServiceClient,
  type ServiceClientConstructor,
  type ServiceError,
} from "@grpc/grpc-js";
import { loadSync, type MessageTypeDefinition, type Options } from "@grpc/proto-loader";

/** A message as proto-loader has it: field names in camelCase, enums by name, each oneof also as the name of its member. */
export type Json = Readonly<Record<string, unknown>>;

/** A call that has ended well. */
export interface Answer {
  readonly response: Json;
  readonly header: Metadata;
  readonly trailer: Metadata;
}

/** A client of grpc-js whose methods are known by name only. */
export interface DynamicClient {
  unary(method: string, request: Json, options?: DynamicCallOptions): Promise<Answer>;
  stream(method: string, request: Json, options?: DynamicCallOptions): ClientReadableStream<Json>;
  close(): void;
}

export interface DynamicCallOptions extends CallOptions {
  /** Default: `a2a-version: 1.0`. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** How messages look; the defaults of fields stay away, so that presence shows. */
export const loaderOptions: Options = { longs: String, enums: String, oneofs: true };

const includeDirs = ["proto", "third_party/googleapis", "third_party/grpc"].map((folder) =>
  fileURLToPath(new URL(`../../${folder}`, import.meta.url)),
);

/** Loads .proto files of the repository by their import paths, as any gRPC user would. */
export function loadProtos(...files: string[]): PackageDefinition {
  return loadSync(files, { ...loaderOptions, includeDirs });
}

/** A message type of a package definition. */
export function messageType(definition: PackageDefinition, name: string): MessageTypeDefinition<Json, Json> {
  const type = definition[name];
  if (type === undefined || !("deserialize" in type)) throw new Error(`there is no message ${name}`);
  return type as MessageTypeDefinition<Json, Json>; // the index type knows no message's fields
}

/** A client of `service`, such as `lf.a2a.v1.A2AService`, on a cleartext channel of its own. */
export function createDynamicClient(
  authority: string,
  definition: PackageDefinition,
  service: string,
  options: ChannelOptions = {},
): DynamicClient {
  const Constructor = findService(definition, service);
  const client = new Constructor(authority, credentials.createInsecure(), options);
  return {
    unary: (method, request, { metadata, ...callOptions } = {}) =>
      new Promise((resolve, reject) => {
        let [header, trailer, response] = [new Metadata(), new Metadata(), undefined as Json | undefined];
        const finish = (error: ServiceError | null, value?: Json) => {
          if (error !== null) reject(error);
          response = value;
        };
        const call: ClientUnaryCall = methodOf(client, method)(request, toMetadata(metadata), callOptions, finish);
        call.on("metadata", (received: Metadata) => {
          header = received;
        });
        call.on("status", (status) => {
          trailer = status.metadata;
          if (response !== undefined) resolve({ response, header, trailer });
        });
      }),
    stream: (method, request, { metadata, ...callOptions } = {}) =>
      methodOf(client, method)(request, toMetadata(metadata), callOptions),
    close: () => client.close(),
  };
}

function findService(definition: PackageDefinition, service: string): ServiceClientConstructor {
  let found: unknown = loadPackageDefinition(definition);
  for (const name of service.split(".")) {
    found = (found as Json)[name]; // a namespace, until the last name
  }
  if (typeof found !== "function") throw new Error(`there is no service ${service}`);
  return found as ServiceClientConstructor; // the only functions among them
}

function methodOf(client: ServiceClient, name: string) {
  const method = client[name];
  if (method === undefined) throw new Error(`there is no method ${name}`);
  return method.bind(client);
}

function toMetadata(entries: Readonly<Record<string, string>> = { "a2a-version": "1.0" }): Metadata {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(entries)) metadata.set(key, value);
  return metadata;
}
