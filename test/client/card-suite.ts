import {
  CardDriftError,
  CardExpectationError,
  type ConnectOptions,
  InputModeError,
  NoInterfaceError,
  RequirementError,
  UnreachableError,
} from "@a2a-connect/client";
import { bytes, findA2AError, lifecycleExtension } from "@a2a-connect/core";
import { connectAgent } from "@a2a-connect/node/client";
import {
  type AgentCard,
  AgentCardSchema,
  type AgentInterface,
  AgentInterfaceSchema,
  AgentSkillSchema,
} from "@a2a-connect/proto";
import { clone, create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { failureOf, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { startCardFront } from "./card-front.ts";
import { closedAddress } from "./closed-address.ts";
import { type ContractTarget, connectTo, noteCalls, pinned } from "./contract-target.ts";
import { cardTexts, product } from "./contract-work.ts";

/** What the card decides, before and after something is sent. */
export function cardSuite(target: ContractTarget): void {
  const { binding, version, features } = target;

  describe("the card", () => {
    it("is read, and the interface is the one that was asked for", async () => {
      await using agent = await connectTo(target);
      expect(agent.card).toMatchObject({ name: cardTexts.name, version: cardTexts.version });
      expect(agent.card.skills.map(({ id }) => id)).toEqual(["talk", "look"]);
      expect(agent.cardWarnings).toEqual(features.cardWarnings ?? []);
      expect(agent.interface).toMatchObject({ protocolBinding: binding, protocolVersion: version });
    });

    it("may be given by the caller, or by its own address", async () => {
      await using agent = await connectTo(target);
      await using given = await connectAgent(agent.card, pinned(target));
      expect((await given.run("echo given")).text()).toBe("given");
      await using found = await connectAgent(`${target.url()}/.well-known/agent-card.json`, pinned(target));
      expect((await found.run("echo found")).text()).toBe("found");
    });

    it.each<[string, ConnectOptions, readonly RegExp[]]>([
      ["a skill", { requires: { skills: ["talk", "fly"] } }, [/fly/, /talk/]],
      ["an extension", { requires: { extensions: ["urn:example:nothing"] } }, [/urn:example:nothing/]],
      ["a media type to give", { requires: { inputModes: ["audio/ogg"] } }, [/audio\/ogg/, /text\/plain/]],
      ["a media type to take", { requires: { outputModes: ["audio/ogg"] } }, [/audio\/ogg/]],
    ])("is refused, when %s is missing, before anything is sent", async (_, options, says) => {
      const calls: string[] = [];
      const connecting = connectTo(target, { ...options, interceptors: [noteCalls(calls)] });
      const { message, hint, missing } = await rejectedWith(connecting, RequirementError);
      for (const each of says) expect(`${message} ${hint}`).toMatch(each);
      expect(missing).toHaveLength(1);
      expect(calls).toEqual([]);
    });

    it("is taken, when nothing is missing", async () => {
      const requires = {
        streaming: true,
        pushNotifications: true,
        skills: ["talk"],
        inputModes: ["text/plain"],
        outputModes: ["application/json"],
        ...(features.lifecycle ? { inputRequired: true, extensions: [lifecycleExtension] } : {}),
      };
      await using agent = await connectTo(target, { requires, expect: { cardVersion: "^1.2" } });
      expect((await agent.run("echo yes")).text()).toBe("yes");
    });

    it("is refused, when it is another one than was expected", async () => {
      for (const expected of [{ cardVersion: "^2.0" }, { cardDigest: "0".repeat(64) }]) {
        const thrown = await rejectedWith(connectTo(target, { expect: expected }), CardExpectationError);
        expect(thrown.message).toMatch(/1\.4\.2|digest|SHA-256/i);
      }
    });

    it("has skills that say what they take: other parts are not sent", async () => {
      const calls: string[] = [];
      await using agent = await connectTo(target, { interceptors: [noteCalls(calls)] });
      const picture = bytes(product.picture, { mediaType: "image/png" });
      const thrown = await rejectedWith(agent.run([picture], { skill: "talk" }), InputModeError);
      expect(thrown.mediaTypes).toEqual(["image/png"]);
      expect(`${thrown.message} ${thrown.hint}`).toMatch(/image\/png.*text\/plain/s);
      const sound = bytes(product.picture, { mediaType: "audio/ogg" });
      await rejectedWith(agent.run([sound]), InputModeError);
      expect(calls).toEqual([]);
    });

    if (features.since1) {
      it("has a tenant, which goes with every call", async () => {
        const card = await readCard(target);
        await using plain = await connectAgent(card, pinned(target));
        await using tenant = await connectAgent(
          changed(card, ({ supportedInterfaces }) => {
            for (const each of supportedInterfaces) each.tenant = "acme";
          }),
          pinned(target),
        );
        const { task } = await tenant.run("work");
        expect(tenant.interface.tenant).toBe("acme");
        expect((await tenant.getTask(task?.id ?? "")).id).toBe(task?.id);
        expect((await tenant.rpc.getTask({ id: task?.id ?? "" })).id).toBe(task?.id);
        expect(findA2AError(await failureOf(plain.getTask(task?.id ?? "")))?.reason).toBe("TASK_NOT_FOUND");
      });
    }

    it("has other interfaces, for when one is out of reach", async () => {
      const card = await readCard(target);
      const alive = card.supportedInterfaces.find(
        (each) => each.protocolBinding === binding && each.protocolVersion === version,
      );
      const dead = await deadInterface(target);
      await using front = await startCardFront(
        changed(card, (moved) => {
          moved.supportedInterfaces = alive === undefined ? [dead] : [dead, alive];
        }),
      );
      await using agent = await connectAgent(front.url, { retry: { initialDelayMs: 1 } });
      expect((await agent.run("work")).artifact("story").text()).toBe(product.chunks.join(""));
      expect(agent.interface).toMatchObject({ protocolBinding: binding });
      expect(agent.interface.url).not.toBe(dead.url);
    });

    it("has a binding that is pinned: no other one is fallen back to", async () => {
      const card = await readCard(target);
      const dead = await deadInterface(target);
      const changedCard = changed(card, (moved) => {
        moved.supportedInterfaces = [
          dead,
          ...card.supportedInterfaces.filter(({ protocolBinding }) => protocolBinding !== binding),
        ];
      });
      await using agent = await connectAgent(changedCard, {
        ...pinned(target),
        retry: { initialDelayMs: 1, giveUpAfterMs: 100 },
      });
      await rejectedWith(agent.run("work"), UnreachableError);
      await rejectedWith(connectTo(target, { pinVersion: "9.9" }), NoInterfaceError);
    });

    it("is asked for again, when a call failed for its age; what changed is said", async () => {
      const card = await readCard(target);
      const gone = create(AgentSkillSchema, {
        id: "gone",
        name: "Gone",
        description: "Was here.",
        tags: ["x"],
      });
      await using front = await startCardFront(
        changed(card, ({ skills }) => {
          skills.push(gone);
        }),
      );
      await using agent = await connectAgent(front.url, pinned(target));
      front.card = changed(card, (newer) => {
        newer.version = "2.0.0";
      });
      const asked = front.requests.length;
      const run = agent.run("work", { skill: "gone" });
      if (!features.lifecycle) {
        // A server that knows nothing of skills takes a message for any of them.
        expect((await run).artifact("story").text()).toBe(product.chunks.join(""));
        expect(front.requests).toHaveLength(asked);
        return;
      }
      const thrown = await rejectedWith(run, CardDriftError);
      expect(thrown.changes.join("\n")).toMatch(/gone/);
      expect(thrown.changes.join("\n")).toMatch(/1\.4\.2.*2\.0\.0/);
      expect(thrown.card.version).toBe("2.0.0");
      expect(front.requests).toHaveLength(asked + 1);
    });
  });
}

async function readCard(target: ContractTarget): Promise<AgentCard> {
  await using agent = await connectTo(target);
  return agent.card;
}

function changed(card: AgentCard, change: (card: AgentCard) => void): AgentCard {
  const copy = clone(AgentCardSchema, card);
  change(copy);
  return copy;
}

async function deadInterface({ binding, version }: ContractTarget): Promise<AgentInterface> {
  const address = await closedAddress();
  const url = binding === "GRPC" ? address : `http://${address}`;
  return create(AgentInterfaceSchema, { url, protocolBinding: binding, protocolVersion: version });
}
