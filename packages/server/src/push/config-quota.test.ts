import { expect, it } from "vitest";
import { ConfigQuota } from "./config-quota.ts";

const owner = { tenant: "", principal: "alice" };

it("looks at no config of another task to find room for one", async () => {
  let seen = 0;
  const quota = new ConfigQuota({ pushConfigIds: async () => [] }, 2);
  const nameOf = (taskId: string, id: string) => ({
    owner,
    id,
    get taskId() {
      seen += 1;
      return taskId;
    },
  });
  for (let task = 0; task < 1_000; task += 1) await quota.reserve(nameOf(`${task}`, "1"));
  seen = 0;
  await quota.reserve(nameOf("7", "2"));
  expect(seen).toBeLessThan(10);
  await expect(quota.reserve(nameOf("7", "3"))).rejects.toThrow("the task has 2 push configs");
});

it("gives back room once, also when other configs of the task are stored meanwhile", async () => {
  const quota = new ConfigQuota({ pushConfigIds: async () => [] }, 1);
  const reserve = (id: string) => quota.reserve({ owner, taskId: "1", id });
  const release = await reserve("a");
  release();
  const other = await reserve("b");
  release();
  await expect(reserve("c")).rejects.toThrow("the task has 1 push configs");
  other();
  await reserve("c");
});
