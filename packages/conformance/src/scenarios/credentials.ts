import { isObject } from "@a2a-connect/core/internal";
import { Code } from "@connectrpc/connect";
import { newId, showCode } from "../calls.ts";
import { listOf } from "../card-facts.ts";
import { expect } from "../expect.ts";
import { wires } from "../platform.ts";
import { type RawHeaders, readAnswer, writeCall } from "../raw-calls.ts";
import { callGrpc } from "../raw-grpc.ts";
import { jsonWires, NotApplicable, type ScenarioGroup, type Stage, scenarios } from "../scenario.ts";

/** Headers of callers whom no server knows. */
const strangers: readonly (readonly [name: string, headers: Readonly<Record<string, string>>])[] = [
  ["without credentials", {}],
  ["with credentials that were never given out", { authorization: "Bearer never-given-out" }],
];

/** O, the side of the server. */
export const credentials: ScenarioGroup = scenarios("O Authentication", ({ anyAgent }) => {
  const guarded = anyAgent.where({ when: ["credentials"], server: "credentials" });

  for (const [name, headers] of strangers) {
    guarded.where({ places: wires })("O-2", `refuses a call ${name}`, async (stage) => {
      const refusals: readonly unknown[] =
        stage.wire === "grpc" || stage.wire === "grpc-web"
          ? [Code.Unauthenticated, Code.PermissionDenied].map(showCode)
          : [401, 403];
      const { status, refused } = await callAsStranger(stage, headers);
      if (stage.wire === "jsonrpc" && refused && !refusals.includes(status)) {
        stage.note(`The refusal over JSON-RPC has HTTP status ${status}; 401 says more.`);
        return;
      }
      expect(status).oneOf([...refusals]);
    });
  }

  guarded("L-9", "demands only schemes that its card describes", async ({ target: { card } }) => {
    const { securitySchemes } = card;
    for (const { schemes } of listOf(card["securityRequirements"])) {
      for (const name of isObject(schemes) ? Object.keys(schemes) : []) {
        expect(isObject(securitySchemes) ? Object.keys(securitySchemes) : []).toContain(name);
      }
    }
  });

  guarded.where({ places: jsonWires })("O-2", "says with a challenge how to authenticate", async (stage) => {
    const { status, challenge } = await callAsStranger(stage, {});
    if (status !== 401) throw new NotApplicable("the call is not refused with 401");
    expect(challenge).toMatch(/\w/);
  });
});

/** What JSON-RPC calls the answer to a caller who was let in: there is no such task. */
const taskNotFound = -32001;

interface Refusal {
  /** The HTTP status; over gRPC and gRPC-Web the code. */
  readonly status: number | string;
  /** Whether the answer says that the call has failed. */
  readonly refused: boolean;
  /** Of HTTP. */
  readonly challenge: string | null;
}

/** A GetTask that goes past the credentials of the run. */
async function callAsStranger({ target, wire }: Stage, own: RawHeaders): Promise<Refusal> {
  const headers = { "a2a-version": "1.0", ...own };
  const stranger = target.asStranger();
  if (wire === "grpc") {
    const { status } = await callGrpc(stranger, "getTask", {}, headers);
    return { status, refused: status !== showCode(0), challenge: null };
  }
  const response = await stranger.fetchOn(wire, ...writeCall(wire, "getTask", { id: newId() }, headers));
  const challenge = response.headers.get("www-authenticate");
  const { status, header, error, text } = await readAnswer(response);
  const code = header.get("grpc-status") ?? /grpc-status: ?(\d+)/.exec(text)?.[1];
  return wire === "grpc-web"
    ? { status: showCode(code), refused: code !== "0", challenge }
    : { status, refused: status >= 400 || (error !== undefined && error.code !== taskNotFound), challenge };
}
