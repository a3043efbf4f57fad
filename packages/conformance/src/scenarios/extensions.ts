import { request as httpRequest } from "node:http";
import { lifecycleExtension, methods } from "@a2a-connect/core";
import { callAny, expectReason, newId, sendTask, startPlayed, toRequest } from "../calls.ts";
import { expect } from "../expect.ts";
import { jsonWires, type ScenarioGroup, scenarios } from "../scenario.ts";
import { puppetText, requiredExtension } from "../server-name.ts";

const strict = { server: "required-extension" } as const;

/** G */
export const extensions: ScenarioGroup = scenarios("G Extensions", (verifies) => {
  verifies(
    "G-1",
    "declares them in the card, under capabilities and nowhere else",
    async ({ target }) => {
      const card = await (await target.fetch("/.well-known/agent-card.json")).json();
      expect(card).not.toHaveProperty("extensions");
      expect(card.capabilities.extensions).toContainEqual({
        uri: requiredExtension,
        description: expect.stringMatching(/\w/),
        required: true,
      });
    },
    strict,
  );

  verifies(
    "G-2 G-5",
    "activates those that are asked for and known, and says so",
    async ({ client, puppet }) => {
      const messageId = newId();
      let echoed: string | null = null;
      const asked = `${requiredExtension} , ${lifecycleExtension},urn:unknown`;
      const sent = client.sendMessage(toRequest(puppetText, { messageId }), {
        headers: { "A2A-Extensions": asked },
        onHeader: (header) => {
          echoed = header.get("a2a-extensions");
        },
      });
      const play = await puppet.turnOf(messageId);
      expect(play.turn.extensions).toStrictEqual([requiredExtension, lifecycleExtension]);
      play.end();
      await sent;
      expect(echoed).toBe(`${requiredExtension},${lifecycleExtension}`);
    },
    { ...strict, needs: "played" },
  );

  verifies(
    "G-2 I-4 K-9",
    "reads headers that are repeated",
    async ({ target, wire }) => {
      const path = wire === "jsonrpc" ? "" : "/message:send";
      const params = { message: { messageId: newId(), role: "ROLE_USER", parts: [{ text: "task done" }] } };
      const body = wire === "jsonrpc" ? { jsonrpc: "2.0", id: 1, method: "SendMessage", params } : params;
      const echoed = await new Promise((resolve, reject) => {
        const outgoing = httpRequest(target.address(wire) + path, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            "a2a-version": "1.0",
            "a2a-extensions": [requiredExtension, lifecycleExtension],
          },
        });
        outgoing.on("response", (response) => {
          response.resume();
          resolve(response.headers["a2a-extensions"]);
        });
        outgoing.on("error", reject);
        outgoing.end(JSON.stringify(body));
      });
      expect(echoed).toBe(`${requiredExtension},${lifecycleExtension}`);
    },
    { ...strict, places: jsonWires },
  );

  verifies("G-3", "ignores an extension that it does not know, and does not claim it", async ({ client }) => {
    let echoed: string | null = "";
    await client.sendMessage(toRequest("task done"), {
      headers: { "A2A-Extensions": "urn:unknown:v1" },
      onHeader: (header) => {
        echoed = header.get("a2a-extensions");
      },
    });
    expect(echoed).toBeNull();
  });

  for (const method of Object.values(methods)) {
    verifies(
      "G-4",
      `refuses ${method.name} without the extension that it requires`,
      async ({ client }) => {
        await expectReason(callAny(client, method), "EXTENSION_SUPPORT_REQUIRED");
      },
      strict,
    );
  }

  verifies(
    "G-4",
    "takes calls that list the extension it requires, and shows its card to all",
    async ({ target, wire }) => {
      const client = target.client(wire, { extensions: [requiredExtension] });
      const { id } = await sendTask(client, "task done");
      expect((await client.getTask({ id })).id).toBe(id);
      expect((await target.fetch("/.well-known/agent-card.json")).status).toBe(200);
    },
    strict,
  );

  verifies(
    "G-6",
    "has none active when none is asked for",
    async (stage) => {
      const { play } = await startPlayed(stage);
      expect(play.turn.extensions).toStrictEqual([]);
      play.end();
    },
    { needs: "played" },
  );

  verifies(
    "G-7 G-3",
    "does not take another version of an extension for the one it knows",
    async ({ target, wire }) => {
      for (const uri of [`${requiredExtension}:v2`, requiredExtension.toUpperCase(), "urn:a2a:tck"]) {
        const client = target.client(wire, { extensions: [uri] });
        await expectReason(client.listTasks({}), "EXTENSION_SUPPORT_REQUIRED");
      }
    },
    strict,
  );

  verifies(
    "G-7",
    "leaves an extension off whose version is another",
    async (stage) => {
      const { target, wire } = stage;
      const client = target.client(wire, { extensions: [lifecycleExtension.replace(/v1$/, "v2")] });
      const { play } = await startPlayed({ ...stage, client });
      expect(play.turn.extensions).toStrictEqual([]);
      play.end();
    },
    { needs: "played" },
  );
});
