import { describe, expect, it } from "vitest";
import { createMasking, isCredentialName } from "./masking.ts";

describe("masking (A2ACLI_AUTH_004)", () => {
  const masking = createMasking(["s3cr3t/value", "s3cr3t"]);

  for (const [name, value, shown] of [
    ["Authorization", "Bearer abc", "Bearer ***"],
    ["authorization", "abc", "***"],
    ["Proxy-Authorization", "Basic abc=", "Basic ***"],
    ["Cookie", "sid=abc", "***"],
    ["set-cookie", "sid=abc; Path=/", "***"],
    ["X-API-Key", "abc", "***"],
    ["x-acme-key", "abc", "***"],
    ["X-A2A-Notification-Token", "abc", "***"],
    ["www-authenticate", 'Bearer realm="x"', 'Bearer realm="x"'],
    ["idempotency-key", "abc", "abc"],
    ["a2a-version", "1.0", "1.0"],
    ["x-trace-id", "has s3cr3t inside", "has *** inside"],
  ] as const) {
    it(`shows the header ${name}: ${value} as ${shown}`, () => {
      expect(masking.header(name, value)).toBe(shown);
    });
  }

  for (const [address, shown] of [
    ["http://h/rpc?api_key=abc&page=2", "http://h/rpc?api_key=***&page=2"],
    ["http://user:pass@h/", "http://***:***@h/"],
    ["http://h/s3cr3t?x=s3cr3t%2Fvalue", "http://h/***?x=***"],
    ["http://h/tasks?pageToken=abc", "http://h/tasks?pageToken=abc"],
    ["localhost:4000", "localhost:4000"],
  ] as const) {
    it(`shows the address ${address} as ${shown}`, () => {
      expect(masking.url(address)).toBe(shown);
    });
  }

  for (const [text, shown] of [
    ['{"token":"abc","url":"http://h"}', '{"token":"***","url":"http://h"}'],
    ['{"authentication":{"credentials" : "a\\"b"}}', '{"authentication":{"credentials" : "***"}}'],
    ['{"client_secret":"abc","accessToken":"def"}', '{"client_secret":"***","accessToken":"***"}'],
    ['{"nextPageToken":"abc","pageToken":"def"}', '{"nextPageToken":"abc","pageToken":"def"}'],
    ['{"token":"cut off in the midd', '{"token":"***"'],
    ['{"url":"https://hook/x?token=abc&a=b"}', '{"url":"https://hook/x?token=***&a=b"}'],
    ["grant_type=x&client_secret=abc", "grant_type=x&client_secret=***"],
    ['{"text":"my s3cr3t/value"}', '{"text":"my ***"}'],
    [`{"text":"${btoa("s3cr3t")}"}`, '{"text":"***"}'],
    ['{"text":"nothing"}', '{"text":"nothing"}'],
  ] as const) {
    it(`shows the body ${text} as ${shown}`, () => {
      expect(masking.text(text)).toBe(shown);
    });
  }

  it("takes names for what they look like", () => {
    const names = ["monkey", "keyboard", "author-id", "x-key", "apikey", "session-id", "x-sig", "design"];
    expect(names.filter(isCredentialName)).toEqual(["author-id", "x-key", "apikey", "session-id", "x-sig"]);
  });
});
