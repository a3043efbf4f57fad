import { join } from "node:path";
import type { AuthGate } from "@a2a-connect/auth";
import { serve } from "@a2a-connect/node";
import { createMemoryTaskStore } from "@a2a-connect/server";
import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
import { ourAgent } from "../agents/our-agent.ts";
import { answerControl } from "./control.ts";
import { databaseFile } from "./server-directory.ts";
import type { ServerSettings } from "./server-settings.ts";

/**
 * Our server with its durable store, in the directory that the bench gives it. Only the task size limit is raised, and
 * what a scenario says is different.
 */
const [, , directory, settings = "{}"] = process.argv;
if (directory === undefined) {
  throw new Error("the directory of the store is missing");
}
const { store, gate, ...limits } = JSON.parse(settings) as ServerSettings; // start-server wrote it
const issued = gate === "jwt" ? await issueToken() : undefined;
const { port } = await serve(ourAgent, {
  ...(issued === undefined ? {} : { auth: { gates: { token: issued.gate } } }),
  store:
    store === "memory"
      ? createMemoryTaskStore()
      : createSqliteTaskStore({ file: join(directory, databaseFile) }),
  limits: { maxTaskBytes: 2 ** 30, ...limits },
});
answerControl({
  httpPort: port,
  grpcPort: port,
  jsonRpcPath: "/rpc",
  httpJsonPath: "/rest",
  ...(issued === undefined ? {} : { authorization: `Bearer ${issued.token}` }),
});

/** An access token as a provider would issue it, and the gate that verifies it. */
async function issueToken(): Promise<{ readonly gate: AuthGate; readonly token: string }> {
  const [{ bearerJwt, defaultScopes }, { exportJWK, generateKeyPair, SignJWT }] = await Promise.all([
    import("@a2a-connect/auth"),
    import("jose"),
  ]);
  const [issuer, audience] = ["https://id.example", "https://agents.example"];
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "ES256" }] };
  const token = await new SignJWT({ scope: defaultScopes.join(" ") })
    .setProtectedHeader({ alg: "ES256", kid: "k", typ: "at+jwt" })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject("bench")
    .setExpirationTime("1h")
    .sign(privateKey);
  return { gate: bearerJwt({ issuer, audience, keys }), token };
}
