import type { RpcMethod } from "@a2a-connect/core";
import { parseMessage } from "@a2a-connect/core/internal";
import type { AgentInterface } from "@a2a-connect/proto";
import { type JsonObject, toBinary } from "@bufbuild/protobuf";
import type { JSX } from "preact";
import { bindingName, shown } from "../content/shown.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { hexText } from "./body-text.ts";
import type { Exchange } from "./recording.ts";
import { type SentRequest, shellCommands } from "./shell-commands.ts";

/** Commands that make a call outside of the page, to copy. */
export function CommandList({
  method,
  request,
  wire,
  sent,
}: {
  readonly method: RpcMethod;
  readonly request: JsonObject;
  readonly wire: AgentInterface;
  readonly sent: Exchange | undefined;
}): JSX.Element {
  return (
    <div class="commands">
      {shellCommands(method, request, wire, sent && readSent(sent)).map(({ tool, line }) => (
        <div key={tool} class="command">
          <div class="command-head">
            <strong>{tool}</strong>
            <CopyButton text={() => line} label={`Copy ${tool}`} />
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
          <pre class="code" tabIndex={0}>
            {shown(line)}
          </pre>
        </div>
      ))}
      {bindingName(wire.protocolBinding) === "gRPC" ? (
        <details>
          <summary>Bytes of the request</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
          <pre class="code" tabIndex={0}>
            {requestBytes(method, request)}
          </pre>
        </details>
      ) : null}
    </div>
  );
}

/** The message in its frame: one byte of flags, four of length. */
function requestBytes({ desc }: RpcMethod, request: JsonObject): string {
  try {
    const message = toBinary(desc.input, parseMessage(desc.input, request));
    const frame = new Uint8Array(5 + message.length);
    frame.set(message, 5);
    new DataView(frame.buffer).setUint32(1, message.length);
    return hexText(frame);
  } catch (error) {
    return String(error);
  }
}

/** A request of a JSON wire as it was sent: such a command repeats it. */
function readSent({ method, url, requestBody }: Exchange): SentRequest {
  return { method, url, body: new TextDecoder().decode(requestBody) };
}
