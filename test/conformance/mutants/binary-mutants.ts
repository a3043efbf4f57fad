import { StatusSchema } from "@a2a-connect/proto/google/rpc/status";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { PassingGrpcAnswer } from "../altering-grpc-proxy.ts";
import type { Mutant } from "./mutant.ts";

/** Where the status of an answer is. */
const endOf = ({ headers, trailers }: PassingGrpcAnswer) => trailers ?? headers;

const hasFailed = (answer: PassingGrpcAnswer): boolean => endOf(answer)["grpc-status"] !== "0";

/** gRPC, gRPC-Web and Connect: what a server may do wrong in status, trailers and frames. */
export const binaryMutants: readonly Mutant[] = [
  {
    name: "has no grpc-status-details-bin",
    ids: "J-4",
    place: "grpc",
    says: /has status and ErrorInfo for an unknown task in its trailers/,
    alterGrpc: (answer) => {
      delete endOf(answer)["grpc-status-details-bin"];
    },
  },
  {
    name: "has another status in grpc-status-details-bin",
    ids: "J-4",
    place: "grpc",
    says: /has status and ErrorInfo for an unknown task in its trailers.*UNKNOWN \(2\)/,
    alterGrpc: (answer) => {
      const end = endOf(answer);
      const details = end["grpc-status-details-bin"];
      if (typeof details !== "string") return;
      const status = { ...fromBinary(StatusSchema, Buffer.from(details, "base64")), code: 2 };
      end["grpc-status-details-bin"] = Buffer.from(toBinary(StatusSchema, status)).toString("base64");
    },
  },
  {
    name: "does not encode grpc-message",
    ids: "J-4",
    place: "grpc",
    says: /grpc-message/,
    alterGrpc: (answer) => {
      const end = endOf(answer);
      if (typeof end["grpc-message"] === "string") {
        end["grpc-message"] = Buffer.from(decodeURIComponent(end["grpc-message"])).toString("latin1");
      }
    },
  },
  {
    name: "answers errors of gRPC with HTTP 500",
    ids: "J-4",
    place: "grpc",
    says: /has status and ErrorInfo for an unknown task in its trailers.*500/,
    alterGrpc: (answer) => {
      if (!hasFailed(answer)) return;
      for (const name of Object.keys(answer.headers)) delete answer.headers[name];
      answer.headers[":status"] = 500;
      answer.trailers = undefined;
    },
  },
  {
    name: "has the status of a stream in its headers only",
    ids: "J-5",
    place: "grpc",
    says: /streams the answer to a hello as messages, and ends with OK/,
    alterGrpc: (answer) => {
      if (answer.trailers === undefined) return;
      answer.headers["grpc-status"] = answer.trailers["grpc-status"] ?? "0";
      answer.trailers = {};
    },
  },
  {
    name: "ends a stream without a status",
    ids: "A-21",
    place: "grpc",
    says: /with a task and its updates to the end/,
    alterGrpc: (answer) => {
      if (/Streaming|Subscribe/.test(answer.path) && answer.trailers !== undefined) answer.trailers = {};
    },
  },
  {
    name: "calls gRPC application/json",
    ids: "J-1",
    place: "grpc",
    says: /methods of the schema at their paths over HTTP\/2.*application\/json/,
    alterGrpc: ({ headers }) => {
      headers["content-type"] = "application/json";
    },
  },
  {
    name: "calls an unknown method not found",
    ids: "J-1",
    place: "grpc",
    says: /does not know other methods.*NOT_FOUND \(5\)/,
    alterGrpc: (answer) => {
      if (answer.path.endsWith("/NoSuchMethod")) endOf(answer)["grpc-status"] = "5";
    },
  },
  {
    name: "lacks a method",
    ids: "J-1",
    place: "grpc",
    says: /knows the methods of the schema.*SubscribeToTask/,
    alterGrpc: (answer) => {
      if (!answer.path.endsWith("/SubscribeToTask")) return;
      endOf(answer)["grpc-status"] = "12";
      delete endOf(answer)["grpc-status-details-bin"];
    },
  },
  {
    name: "begins a stream that fails with an empty message",
    ids: "J-5",
    place: "grpc",
    says: /fails without a message where there is nothing to subscribe to/,
    alterGrpc: (answer) => {
      if (!answer.path.endsWith("/SubscribeToTask") || !hasFailed(answer)) return;
      answer.trailers = { ...answer.headers, ...answer.trailers };
      for (const name of [":status", "content-type"]) delete answer.trailers[name];
      for (const name of Object.keys(answer.headers))
        if (name.startsWith("grpc-status") || name === "grpc-message") delete answer.headers[name];
      answer.body = Buffer.alloc(5);
    },
  },
  {
    name: "calls a send without a message an unknown error",
    ids: "J-8",
    place: "grpc",
    says: /calls a send without a message INVALID_ARGUMENT/,
    alterGrpc: (answer) => {
      if (endOf(answer)["grpc-status"] === "3") endOf(answer)["grpc-status"] = "2";
    },
  },
  {
    name: "has errors of Connect without details",
    ids: "E-2",
    place: "connect",
    most: 4,
    says: /in the ErrorInfo for an unknown task/,
    alter(answer) {
      if (answer.status < 400 || !answer.path.includes("A2AService")) return;
      const { details: _details, ...error } = JSON.parse(answer.body);
      answer.body = JSON.stringify(error);
    },
  },
  {
    name: "has another code in errors of Connect",
    ids: "E-7",
    place: "connect",
    says: /for an unknown task/,
    alter(answer) {
      if (answer.path.includes("A2AService"))
        answer.body = answer.body.replace('"code":"not_found"', '"code":"unknown"');
    },
  },
  {
    name: "ends answers of gRPC-Web without trailers",
    ids: "E-7",
    place: "grpc-web",
    most: 8,
    says: /for an unknown task/,
    alter(answer) {
      if (!answer.headers.get("content-type")?.startsWith("application/grpc-web")) return;
      answer.headers.delete("grpc-status");
      answer.headers.delete("grpc-message");
      answer.headers.delete("grpc-status-details-bin");
      answer.body = answer.body.replace(/\x80[\s\S]{4}[a-z-]+:[\s\S]*$/, "");
    },
  },
];
