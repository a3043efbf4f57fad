import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startWalk } from "@a2a-connect/core/internal";
import type { JsonValue } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { olderPath } from "./calls.ts";
import { createForms } from "./forms.ts";

describe("the path of a field", () => {
  const { sendMessageRequest, pushConfig } = createForms("json");
  for (const [form, current, older] of [
    [sendMessageRequest, "message.parts[12].raw", "message.parts[12].file.bytes"],
    [sendMessageRequest, "message.parts[0].url", "message.parts[0].file.uri"],
    [sendMessageRequest, "message.parts", "message.parts"],
    [sendMessageRequest, 'message.metadata["a.b"].c', 'message.metadata["a.b"].c'],
    [
      sendMessageRequest,
      "configuration.taskPushNotificationConfig.url",
      "configuration.pushNotificationConfig.url",
    ],
    [pushConfig, "url", "pushNotificationConfig.url"],
    [pushConfig, "taskId", "taskId"],
    [pushConfig, "", ""],
  ] as const) {
    it(`${current} is ${older}`, () => expect(olderPath(current, form)).toBe(older));
  }
});

describe("metadata of parts with members named by array indexes", () => {
  const { message } = createForms("json");
  const count = 5_000;
  const metadata = '"metadata":{"1023":0,"2573":0,"data_part_compat":true}';
  const older = JSON.parse(
    `{"parts":[${Array(count).fill(`{"kind":"data","data":{"value":1},${metadata}}`).join()}]}`,
  );
  const current = JSON.parse(`{"parts":[${Array(count).fill(`{"data":1,${metadata}}`).join()}]}`);

  for (const [way, convert] of [
    ["from 0.3", () => message.toCurrent(older, startWalk(""))],
    ["to 0.3", () => message.toOlder(current)],
  ] as const) {
    it(`takes no memory for the gaps between them, ${way}`, () => {
      setFlagsFromString("--expose-gc");
      const collectGarbage = runInNewContext("gc") as () => void; // the flag made it
      collectGarbage();
      const before = process.memoryUsage().heapUsed;
      const converted = convert() as { readonly parts: readonly JsonValue[] }; // it converts parts
      collectGarbage();
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(10 * 1024 * 1024); // 31 KB of gaps each would be 155 MB
      expect(converted.parts).toHaveLength(count);
    });
  }
});
