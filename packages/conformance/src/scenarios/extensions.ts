import { lifecycleExtension, methods } from "@a2a-connect/core";
import { isObject } from "@a2a-connect/core/internal";
import type { Task } from "@a2a-connect/proto";
import { callAny, expectReason, newId, partData, readHeader, sendTask, taskOf, toRequest } from "../calls.ts";
import { extensionsOf, requiredExtensions } from "../card-facts.ts";
import { expect } from "../expect.ts";
import { hello } from "../hello.ts";
import { writeCall } from "../raw-calls.ts";
import { jsonWires, type ScenarioGroup, scenarios } from "../scenario.ts";
import { requiredExtension } from "../server-name.ts";
import type { A2AClient } from "../target.ts";

/** The extensions that the answer to a call names; which call does not matter, nor whether it fails. */
async function echoOf(client: A2AClient, asked: string): Promise<string[]> {
  const headers = { "A2A-Extensions": asked };
  const { header } = await readHeader("a2a-extensions", (onHeader) =>
    client.listTasks({ contextId: newId() }, { headers, onHeader }),
  );
  return (header ?? "").split(",").flatMap((uri) => uri.trim() || []);
}

/** The extensions that were active for the command `seen`. */
function activeIn({ artifacts }: Task): unknown {
  const seen = partData(artifacts[0]?.parts[0]);
  return isObject(seen) ? seen["extensions"] : undefined;
}

/** G */
export const extensions: ScenarioGroup = scenarios("G Extensions", ({ verifies, anyAgent }) => {
  const strict = verifies.where({ server: "required-extension" });
  const demanding = anyAgent.where({ server: "required-extension", when: ["required-extension"] });
  const extensive = anyAgent.where({ server: "required-extension", when: ["extensions"] });

  strict("G-1", "declares them in the card, under capabilities and nowhere else", async ({ target }) => {
    const card = await (await target.fetch("/.well-known/agent-card.json")).json();
    expect(card).not.toHaveProperty("extensions");
    expect(card.capabilities.extensions).toContainEqual({
      uri: requiredExtension,
      description: expect.stringMatching(/\w/),
      required: true,
    });
  });

  extensive("G-1", "gives every extension in its card a URI of its own", async ({ target }) => {
    const uris = extensionsOf(target.card).map(({ uri }) => uri);
    for (const uri of uris) expect(uri).toMatch(/^[a-z][a-z\d+.-]*:./i);
    expect(new Set(uris).size).toBe(uris.length);
  });

  extensive(
    "G-5",
    "names the extensions of its card that a call has activated",
    async ({ target, client }) => {
      const uris = extensionsOf(target.card).map(({ uri }) => String(uri));
      const echoed = await echoOf(client, uris.join(","));
      expect(echoed.length, "no extension is named").toBeGreaterThan(0);
      expect(uris).toStrictEqual(expect.arrayContaining(echoed));
    },
  );

  anyAgent(
    "G-3 G-2",
    "ignores extensions that no card of it names, and does not claim them",
    async ({ target, client }) => {
      const required = requiredExtensions(target.card);
      const echoed = await echoOf(
        client,
        [...required, "urn:unknown:v1", "https://example.com/unknown/v2"].join(", "),
      );
      expect(required).toStrictEqual(expect.arrayContaining(echoed));
    },
  );

  demanding(
    "G-4 G-7",
    "refuses calls without the extension that its card requires, or with another version of it",
    async (stage) => {
      const others = requiredExtensions(stage.target.card).map((uri) => `${uri}-other`);
      for (const extensions of [[], others]) {
        const client = stage.target.client(stage.wire, { extensions });
        await expectReason(client.sendMessage(hello(stage)), "EXTENSION_SUPPORT_REQUIRED");
      }
    },
  );

  demanding(
    "G-4 G-2",
    "takes calls that name the extensions that its card requires, and shows its card to all",
    async ({ target, client }) => {
      await client.listTasks({ contextId: newId() });
      expect((await target.fetch("/.well-known/agent-card.json")).status).toBe(200);
    },
  );

  strict("G-2 G-5", "activates those that are asked for and known, and says so", async ({ client }) => {
    const headers = { "A2A-Extensions": `${requiredExtension} , ${lifecycleExtension},urn:unknown` };
    const { answer, header } = await readHeader("a2a-extensions", (onHeader) =>
      client.sendMessage(toRequest("seen"), { headers, onHeader }),
    );
    const active = [requiredExtension, lifecycleExtension];
    expect(activeIn(taskOf(answer))).toStrictEqual(active);
    expect(header).toBe(active.join(","));
  });

  strict.where({ places: jsonWires })(
    "G-2 I-4 K-9",
    "reads headers that are repeated",
    async ({ target, wire }) => {
      const message = { messageId: newId(), role: "ROLE_USER", parts: [{ text: "task done" }] };
      const [path, { body }] = writeCall(wire, "sendMessage", { message }, {});
      const fields = { "a2a-version": "1.0", "a2a-extensions": [requiredExtension, lifecycleExtension] };
      const answer = await target.platform.postFields(target.address(wire) + path, fields, String(body));
      expect(answer["a2a-extensions"]).toBe(`${requiredExtension},${lifecycleExtension}`);
    },
  );

  verifies("G-3", "ignores an extension that it does not know, and does not claim it", async ({ client }) => {
    const headers = { "A2A-Extensions": "urn:unknown:v1" };
    const { header } = await readHeader("a2a-extensions", (onHeader) =>
      client.sendMessage(toRequest("task done"), { headers, onHeader }),
    );
    expect(header).toBeNull();
  });

  for (const method of Object.values(methods)) {
    strict(
      "G-4",
      `refuses ${method.name} without the extension that it requires`,
      async ({ target, wire }) => {
        const client = target.client(wire, { extensions: [] });
        await expectReason(callAny(client, method), "EXTENSION_SUPPORT_REQUIRED");
      },
    );
  }

  verifies("G-6", "activates none when the caller asks for none", async ({ client }) => {
    expect(activeIn(await sendTask(client, "seen"))).toStrictEqual([]);
  });

  strict(
    "G-7 G-3",
    "does not take another version of an extension for the one it knows",
    async ({ target, wire }) => {
      for (const uri of [`${requiredExtension}:v2`, requiredExtension.toUpperCase(), "urn:a2a:tck"]) {
        const client = target.client(wire, { extensions: [uri] });
        await expectReason(client.listTasks({}), "EXTENSION_SUPPORT_REQUIRED");
      }
    },
  );

  verifies("G-7", "does not activate another version of an extension", async ({ target, wire }) => {
    const client = target.client(wire, { extensions: [lifecycleExtension.replace(/v1$/, "v2")] });
    expect(activeIn(await sendTask(client, "seen"))).toStrictEqual([]);
  });
});
