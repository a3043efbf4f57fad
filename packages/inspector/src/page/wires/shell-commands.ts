import type { RpcMethod } from "@a2a-connect/core";
import { escapeInvisible, trimSlashes } from "@a2a-connect/core/internal";
import type { AgentInterface } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import { bindingName } from "../content/shown.ts";
import { credentials } from "../session/page-fetch.ts";

/** A command that makes the same call outside of the page. */
export interface ShellCommand {
  readonly tool: string;
  readonly line: string;
}

/** A request over a JSON wire. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly body: string;
}

/** Commands for a call over an interface. What came from an agent stands in quotes, and what shows nothing as an escape. */
export function shellCommands(
  method: RpcMethod,
  request: JsonObject,
  { protocolBinding, url, protocolVersion }: AgentInterface,
  sent: SentRequest | undefined,
): readonly ShellCommand[] {
  const json = quote(escapeInvisible(JSON.stringify(request)));
  const headers = [
    `a2a-version: ${protocolVersion}`,
    ...[...credentials.value.keys()].map((name) => `${name}: …`),
  ]
    .map((header) => `-H ${quote(header)}`)
    .join(" ");
  const binding = bindingName(protocolBinding);
  const buf = (protocol: string, flags = ""): ShellCommand => ({
    tool: "buf curl",
    line: `npx @bufbuild/buf curl --protocol ${protocol}${flags} ${headers} \\\n  -d ${json} \\\n  ${quote(trimSlashes(url) + method.grpcPath)}`,
  });
  switch (binding) {
    case "Connect": {
      const unary: ShellCommand = {
        tool: "curl",
        line: `curl ${headers} -H 'content-type: application/json' \\\n  -d ${json} \\\n  ${quote(trimSlashes(url) + method.grpcPath)}`,
      };
      return [...(method.streaming ? [] : [unary]), buf("connect")];
    }
    case "gRPC-Web":
      return [buf("grpcweb")];
    case "gRPC": {
      const address = url.replace(/^\w+:\/\//, "");
      const isTls = url.startsWith("https:");
      const grpcurl = `grpcurl ${isTls ? "" : "-plaintext "}${headers} \\\n  -d ${json} \\\n  ${quote(address)} ${method.grpcPath.slice(1)}`;
      const scheme = isTls ? "https" : "http";
      return [
        { tool: "grpcurl", line: grpcurl },
        {
          tool: "buf curl",
          line: `npx @bufbuild/buf curl --protocol grpc${isTls ? "" : " --http2-prior-knowledge"} ${headers} \\\n  -d ${json} \\\n  ${quote(`${scheme}://${trimSlashes(address)}${method.grpcPath}`)}`,
        },
      ];
    }
    default: {
      if (sent === undefined) return [];
      const data =
        sent.body === ""
          ? ""
          : ` -H 'content-type: application/json' \\\n  -d ${quote(escapeInvisible(sent.body))}`;
      const verb = sent.method === "GET" || sent.method === "POST" ? "" : ` -X ${sent.method}`;
      return [
        {
          tool: "curl",
          line: `curl ${method.streaming ? "-N " : ""}${headers}${verb}${data} \\\n  ${quote(sent.url)}`,
        },
      ];
    }
  }
}

/** For a POSIX shell: nothing within single quotes means anything. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
