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
