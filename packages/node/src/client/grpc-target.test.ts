import { describe, expect, it } from "vitest";
import { parseGrpcTarget } from "./grpc-target.ts";

describe("parseGrpcTarget (J-2)", () => {
  for (const [text, cardScheme, want] of [
    ["http://agent.example:5000", "https:", "http://agent.example:5000/"],
    ["https://agent.example/grpc", "http:", "https://agent.example/grpc"],
    ["HTTPS://Agent.Example:5000/", undefined, "https://agent.example:5000/"],
    ["grpc://agent.example:5000", "https:", "http://agent.example:5000/"],
    ["grpcs://agent.example:5000", "http:", "https://agent.example:5000/"],
    ["agent.example:5000", "https:", "https://agent.example:5000/"],
    ["agent.example:5000", "http:", "http://agent.example:5000/"],
    ["agent.example:5000", undefined, "https://agent.example:5000/"],
    ["agent.example", undefined, "https://agent.example/"],
    ["agent.example:443", "http:", "https://agent.example/"],
    ["agent.example:80", "https:", "http://agent.example/"],
    ["localhost:5000", undefined, "http://localhost:5000/"],
    ["localhost:5000", "https:", "https://localhost:5000/"],
    ["127.8.0.1:5000", undefined, "http://127.8.0.1:5000/"],
    ["[::1]:5000", undefined, "http://[::1]:5000/"],
    ["[2001:db8::1]:5000", undefined, "https://[2001:db8::1]:5000/"],
    ["10.0.0.1:5000", undefined, "https://10.0.0.1:5000/"],
    ["localhost.agent.example:5000", undefined, "https://localhost.agent.example:5000/"],
    ["dns:agent.example:5000", "http:", "http://agent.example:5000/"],
    ["dns:///agent.example:5000", "http:", "http://agent.example:5000/"],
    ["dns://8.8.8.8/agent.example:5000", undefined, "https://agent.example:5000/"],
  ] as const) {
    it(`dials ${want} for ${text} of a card ${cardScheme ?? "from elsewhere"}`, () => {
      expect(parseGrpcTarget(text, cardScheme).href).toBe(want);
    });
  }

  for (const text of [
    "",
    "agent.example:port",
    "agent.example:5000/path",
    "unix:/tmp/socket",
    "ftp://a.example",
    "http://",
    "user:pw@a.example:5000",
    "a b:5000",
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(() => parseGrpcTarget(text)).toThrow(`${JSON.stringify(text)} is not a gRPC target`);
    });
  }
});
