import { expect, it } from "vitest";
import { judgeAddress } from "./interfaces.ts";
import { isCleartext } from "./network.ts";

for (const [url, addresses, isTold] of [
  ["http://agents.example.org", ["93.184.215.14"], true],
  ["http://agents.example.org", ["2606:2800:21f:cb07::1"], true],
  ["https://agents.example.org", ["93.184.215.14"], false],
  ["http://agents.internal", ["10.1.2.3", "fd00::1"], false],
  ["http://localhost:4000", ["127.0.0.1"], false],
  ["http://[::1]:4000", ["::1"], false],
] as const) {
  it(`${isTold ? "warns of" : "lets be"} ${url} at ${addresses.join(" and ")}`, () => {
    expect(isCleartext(new URL(url), addresses)).toBe(isTold);
  });
}

for (const [cardUrl, url, id] of [
  ["https://agents.example.org", "http://localhost:61/rpc", "interface.own-machine"],
  ["https://agents.example.org", "http://agents.invalid/rpc", "interface.cleartext"],
  ["https://agents.example.org", "agents.invalid", "interface.url"],
  ["http://localhost:4000", "http://localhost:61/rpc", undefined],
] as const) {
  it(`judges ${url} in the card of ${cardUrl}`, () => {
    const served = { url, protocolBinding: "JSONRPC" };
    expect(judgeAddress(served, new URL(cardUrl))).toEqual(id === undefined ? [] : [id]);
  });
}
