import { findA2AError, methods } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { callAny, expectReason, newId, readAll, sendTask, toRequest } from "../calls.ts";
import { listOf } from "../card-facts.ts";
import { expect } from "../expect.ts";
import { helloJson } from "../hello.ts";
import type { Wire } from "../platform.ts";
import { capture, clientOfPeer, memberNames, readAnswer, readSse, sendRaw, writeCall } from "../raw-calls.ts";
import { jsonWires, NotApplicable, type ScenarioGroup, scenarios } from "../scenario.ts";
import { type Target, wiresByBinding } from "../target.ts";

/** F */
export const versions: ScenarioGroup = scenarios("F Versions", ({ verifies, anyAgent }) => {
  const overJson = verifies.where({ places: jsonWires });

  for (const version of ["1.0", "1.0.0", "1.0.7"]) {
    verifies("F-1", `speaks 1.0 when asked for ${version}`, async ({ target, wire }) => {
      const task = await sendTask(target.client(wire, { version }), "task done");
      expect(task.status?.state).toBe(TaskState.COMPLETED);
    });

    anyAgent("F-1", `accepts a call of version ${version}`, async ({ target, wire }) => {
      await expectReason(target.client(wire, { version }).getTask({ id: newId() }), "TASK_NOT_FOUND");
    });
  }

  overJson("F-2", "says its version with every request, as a client", async ({ wire }) => {
    const sent: (string | null)[] = [];
    const fetch = async (_input: unknown, init?: RequestInit) => {
      sent.push(new Headers(init?.headers).get("a2a-version"));
      return Response.json({});
    };
    const client = clientOfPeer(wire, fetch);
    for (const method of Object.values(methods)) {
      await callAny(client, method).catch(() => undefined); // there is no proper answer
    }
    expect(sent).toStrictEqual(Array(11).fill("1.0"));
  });

  verifies(
    "F-3",
    "finds the version in the query, and believes the header first",
    async ({ target, wire }) => {
      const ask = async (query: string, headers: Record<string, string>) => {
        const [path, init] = writeCall(wire, "listTasks", {}, headers);
        return (await readAnswer(await target.fetchOn(wire, path + query, init))).error === undefined;
      };
      expect(await ask("?A2A-Version=1.0", {})).toBe(true);
      expect(await ask("?a2a-version=1.0", {})).toBe(true);
      expect(await ask("?A2A-Version=9.9", {})).toBe(false);
      expect(await ask("?A2A-Version=9.9", { "a2a-version": "1.0" })).toBe(true);
      expect(await ask("?A2A-Version=1.0", { "a2a-version": "9.9" })).toBe(false);
      expect(await ask("", {})).toBe(false);
    },
  );

  anyAgent("F-3", "reads the version from the query", async ({ target, wire }) => {
    const [path, init] = writeCall(wire, "getTask", { id: newId() }, {});
    const { error, text } = await readAnswer(await target.fetchOn(wire, `${path}?A2A-Version=1.0`, init));
    expect(error?.code, text).toBe(wire === "jsonrpc" ? -32001 : 404);
  });

  for (const version of [null, ""]) {
    anyAgent.where({ server: "one-version" })(
      "F-4",
      `takes ${version === null ? "no" : "an empty"} version of any call for 0.3`,
      async ({ target, wire }) => {
        if (speaksOlder(target, wire))
          throw new NotApplicable("the card offers this wire in version 0.3, too");
        const client = target.client(wire, { version });
        await expectReason(client.getTask({ id: newId() }), "VERSION_NOT_SUPPORTED");
      },
    );
  }

  for (const version of ["99.0", "0.2"]) {
    anyAgent("F-5", `does not speak version ${version}`, async ({ target, wire }) => {
      const client = target.client(wire, { version });
      await expectReason(client.getTask({ id: newId() }), "VERSION_NOT_SUPPORTED");
    });
  }

  for (const version of [null, ""]) {
    verifies(
      "F-4",
      `takes ${version === null ? "no" : "an empty"} version for 0.3, in which there is no call of 1.0`,
      async ({ target, wire }) => {
        const client = target.client(wire, { version });
        const error = await expectReason(client.sendMessage(toRequest("task no")), "VERSION_NOT_SUPPORTED");
        expect(error.message).toContain("0.3");
        await expectReason(client.sendStreamingMessage(toRequest("task no")), "VERSION_NOT_SUPPORTED");
      },
    );
  }

  verifies.where({ server: "lenient-version" })(
    "F-4",
    "takes no version for 1.0 where it was told so, and still refuses others",
    async ({ target, wire }) => {
      expect((await sendTask(target.client(wire, { version: null }), "task done")).status?.state).toBe(
        TaskState.COMPLETED,
      );
      const other = target.client(wire, { version: "0.3" });
      await expectReason(other.listTasks({}), "VERSION_NOT_SUPPORTED");
    },
  );

  for (const [version, server, supported] of [
    ["0.3", "full", "1.0,1.1"],
    ["2.0", "full", "1.0,1.1"],
    ["9.9", "full", "1.0,1.1"],
    ["bogus", "full", "1.0,1.1"],
    ["1.1", "bare", "1.0"],
  ] as const) {
    verifies.where({ server })(
      "F-5",
      `does not speak ${version}, and says what it does`,
      async ({ target, wire }) => {
        const client = target.client(wire, { version });
        const error = await expectReason(client.listTasks({}), "VERSION_NOT_SUPPORTED");
        expect(error.rawMessage).toContain('"A2A-Version: 1.0"');
        expect(findA2AError(error)?.metadata["supportedVersions"]).toBe(supported);
      },
    );
  }

  verifies("F-6", "does not answer a request of 1.0 with what only 1.1 has", async ({ client }) => {
    const events = await readAll(client.sendStreamingMessage(toRequest("task done")));
    const tasks = (await client.listTasks({ pageSize: 3 })).tasks;
    expect(events).toHaveLength(4);
    expect(tasks.map(({ generation }) => generation)).toStrictEqual(tasks.map(() => 0n));
    for (const { payload } of events) {
      expect(payload.value).toMatchObject({ generation: 0n });
    }
  });

  overJson("F-6", "writes the shapes of 1.0, without the members of 0.3 and 1.1", async (stage) => {
    const answers = [
      await capture(stage, (client) => client.sendMessage(toRequest("parts"))),
      await capture(stage, (client) => client.sendMessage(toRequest("echo hello"))),
    ];
    const streamed = await capture(stage, (client) =>
      readAll(client.sendStreamingMessage(toRequest("task done"))),
    );
    for (const json of [...answers.map((answer) => answer.json), ...readSse(streamed.text)]) {
      expect(JSON.stringify(json)).not.toMatch(/"(kind|final|generation|index)":/);
    }
  });

  anyAgent.where({ places: jsonWires })(
    "F-6",
    "writes a hello in the shapes of 1.0, without the members of 0.3 and 1.1",
    async (stage) => {
      const { json, result, text } = await sendRaw(stage, helloJson(stage));
      expect(result?.["task"] ?? result?.["message"], text).toBeDefined();
      expect(
        memberNames(json).filter((name) => ["kind", "final", "generation"].includes(name)),
        text,
      ).toStrictEqual([]);
    },
  );

  anyAgent("F-9", "shows its card to callers who say no version, or another", async ({ target }) => {
    expect((await target.fetch("/.well-known/agent-card.json")).status).toBe(200);
    const other = { headers: { "a2a-version": "9.9" } };
    expect((await target.fetch("/.well-known/agent-card.json", other)).status).toBe(200);
  });
});

/**
 * Whether the card offers a wire in version 0.3 as well, as 1.0 or 0.3 writes it: then a call without a version is one of 0.3, and
 * what a server answers to one that 0.3 does not have is its own affair.
 */
function speaksOlder({ card }: Target, wire: Wire): boolean {
  const isOlder = (version: unknown) => String(version).startsWith("0.");
  const { supportedInterfaces, protocolVersion, preferredTransport = "JSONRPC", additionalInterfaces } = card;
  const served = listOf(supportedInterfaces).filter((each) => isOlder(each["protocolVersion"]));
  const transports = [preferredTransport, ...listOf(additionalInterfaces).map(({ transport }) => transport)];
  return [
    ...served.map(({ protocolBinding }) => protocolBinding),
    ...(isOlder(protocolVersion) ? transports : []),
  ].some((binding) => wiresByBinding.get(binding) === wire);
}
