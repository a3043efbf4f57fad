import { fileURLToPath } from "node:url";
import {
  type CallOptions,
  type ChannelOptions,
  type ClientDuplexStream,
  type ClientReadableStream,
  credentials,
  Metadata,
  makeClientConstructor,
  type ServiceError,
} from "@grpc/grpc-js";
import {
  loadSync,
  type MessageTypeDefinition,
  type Options,
  type PackageDefinition,
  type ServiceDefinition,
} from "@grpc/proto-loader";

/** A message as proto-loader has it: field names in camelCase, enums by name, each oneof also as the name of its member. */
export type Json = Readonly<Record<string, unknown>>;

/** A client of grpc-js whose methods are known by name only. */
export interface DynamicClient {
  unary(method: string, request: Json, options?: DynamicCallOptions): Promise<Json>;
  /** One request, a stream of answers. */
  stream(method: string, request: Json, options?: DynamicCallOptions): ClientReadableStream<Json>;
  /** Streams in both directions. */
  duplex(method: string, options?: DynamicCallOptions): ClientDuplexStream<Json, Json>;
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

/** The methods of a service of a package definition. */
export function serviceOf(definition: PackageDefinition, name: string): ServiceDefinition {
  const service = definition[name];
  if (service === undefined || "format" in service) throw new Error(`there is no service ${name}`);
  return service as ServiceDefinition; // the only other kind of definition has a format
}

/** A client of `service`, such as `lf.a2a.v1.A2AService`, on a cleartext channel of its own. */
export function createDynamicClient(
  authority: string,
  definition: PackageDefinition,
  service: string,
  options: ChannelOptions = {},
): DynamicClient {
  const Client = makeClientConstructor(serviceOf(definition, service), service);
  const client = new Client(authority, credentials.createInsecure(), options);
  return {
    unary: (method, request, { metadata, ...callOptions } = {}) =>
      new Promise((resolve, reject) => {
        const finish = (error: ServiceError | null, response: Json) =>
          error === null ? resolve(response) : reject(error);
        methodOf(client, method)(request, toMetadata(metadata), callOptions, finish);
      }),
    stream: (method, request, { metadata, ...callOptions } = {}) =>
      methodOf(client, method)(request, toMetadata(metadata), callOptions),
    duplex: (method, { metadata, ...callOptions } = {}) =>
      methodOf(client, method)(toMetadata(metadata), callOptions),
    close: () => client.close(),
  };
}

function methodOf(client: InstanceType<ReturnType<typeof makeClientConstructor>>, name: string) {
  const method = client[name];
  if (method === undefined) throw new Error(`there is no method ${name}`);
  return method.bind(client);
}

function toMetadata(entries: Readonly<Record<string, string>> = { "a2a-version": "1.0" }): Metadata {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(entries)) metadata.set(key, value);
  return metadata;
}
