import type { RpcMethod } from "@a2a-connect/core";
import type { AgentInterface } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { JSX } from "preact";
import { shown } from "../content/shown.ts";
import { CopyButton } from "../ui/copy-button.tsx";
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
    </div>
  );
}

/** A request of a JSON wire as it was sent: such a command repeats it. */
function readSent({ method, url, requestBody }: Exchange): SentRequest {
  return { method, url, body: new TextDecoder().decode(requestBody) };
}
