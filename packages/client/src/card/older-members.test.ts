import { expect, it } from "vitest";
import { olderInterfaces } from "./older-members.ts";

it("compares the preferred interface of an older card with many others, and reads its address once", () => {
  let reads = 0;
  const url = {
    toJSON: () => {
      reads += 1;
      return "https://agent.example";
    },
  };
  const additionalInterfaces = Array.from({ length: 100 }, (_, at) => ({
    url: `https://agent.example/${at}`,
    transport: "GRPC",
  }));
  expect(olderInterfaces({ url, additionalInterfaces }, "0.3")).toHaveLength(101);
  expect(reads).toBe(1);
});
