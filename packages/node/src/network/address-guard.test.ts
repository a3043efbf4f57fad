import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAddressGuard, targetOf } from "./address-guard.ts";

const guard = createAddressGuard({ allowHttp: true });
const somewhere = { host: "hooks.example", port: 443 };

/** Every special range with its first and last address, and what lies beside it. */
const specialIpv4 = [
  ["this network", "0.0.0.0", "0.255.255.255", ["1.0.0.0"]],
  ["private 10/8", "10.0.0.0", "10.255.255.255", ["9.255.255.255", "11.0.0.0"]],
  ["shared (CGNAT)", "100.64.0.0", "100.127.255.255", ["100.63.255.255", "100.128.0.0"]],
  ["loopback", "127.0.0.0", "127.255.255.255", ["126.255.255.255", "128.0.0.0"]],
  ["link-local", "169.254.0.0", "169.254.255.255", ["169.253.255.255", "169.255.0.0"]],
  ["metadata services", "169.254.169.254", "169.254.170.2", []],
  ["private 172.16/12", "172.16.0.0", "172.31.255.255", ["172.15.255.255", "172.32.0.0"]],
  ["protocol assignments", "192.0.0.0", "192.0.0.255", ["191.255.255.255", "192.0.1.0"]],
  ["documentation 1", "192.0.2.0", "192.0.2.255", ["192.0.1.255", "192.0.3.0"]],
  ["6to4 relays", "192.88.99.0", "192.88.99.255", ["192.88.98.255", "192.88.100.0"]],
  ["private 192.168/16", "192.168.0.0", "192.168.255.255", ["192.167.255.255", "192.169.0.0"]],
  ["benchmarks", "198.18.0.0", "198.19.255.255", ["198.17.255.255", "198.20.0.0"]],
  ["documentation 2", "198.51.100.0", "198.51.100.255", ["198.51.99.255", "198.51.101.0"]],
  ["documentation 3", "203.0.113.0", "203.0.113.255", ["203.0.112.255", "203.0.114.0"]],
  ["Alibaba's metadata service", "100.100.100.200", "100.100.100.200", []],
  ["Oracle's metadata service", "192.0.0.192", "192.0.0.192", []],
  ["Azure's platform", "168.63.129.16", "168.63.129.16", ["168.63.129.15", "168.63.129.17"]],
  ["IBM's service network", "161.26.0.0", "161.26.255.255", ["161.25.255.255", "161.27.0.0"]],
  ["IBM's private endpoints", "166.8.0.0", "166.11.255.255", ["166.7.255.255", "166.12.0.0"]],
  ["multicast", "224.0.0.0", "239.255.255.255", ["223.255.255.255"]],
  ["reserved", "240.0.0.0", "255.255.255.254", []],
  ["broadcast", "255.255.255.255", "255.255.255.255", []],
] as const;

const specialIpv6 = [
  ["unspecified", "::"],
  ["loopback", "::1"],
  ["IPv4-compatible", "::7f00:1"],
  ["IPv4-compatible, public", "::8.8.8.8"],
  ["IPv4-mapped loopback", "::ffff:127.0.0.1"],
  ["IPv4-mapped private, in hex", "::ffff:a00:1"],
  ["IPv4-mapped metadata", "::ffff:169.254.169.254"],
  ["IPv4-translated", "::ffff:0:10.0.0.1"],
  ["NAT64 to private", "64:ff9b::10.0.0.1"],
  ["NAT64 to metadata", "64:ff9b::a9fe:a9fe"],
  ["NAT64 to Azure's platform", "64:ff9b::168.63.129.16"],
  ["IPv4-mapped Azure's platform", "::ffff:a83f:8110"],
  ["NAT64 of a site", "64:ff9b:1::8.8.8.8"],
  ["NAT64 of a site to metadata", "64:ff9b:1:a9fe:a9:fe00::"],
  ["discard", "100::1"],
  ["Teredo", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
  ["benchmarks", "2001:2::1"],
  ["ORCHID", "2001:10::1"],
  ["ORCHIDv2", "2001:20::1"],
  ["documentation", "2001:db8::1"],
  ["documentation 2", "3fff::1"],
  ["6to4 of private", "2002:a00:1::1"],
  ["6to4 of public", "2002:808:808::1"],
  ["segment routing", "5f00::1"],
  ["unique local fc", "fc00::1"],
  ["unique local fd, Amazon's metadata service", "fd00:ec2::254"],
  ["Google's metadata service", "fd20:ce::254"],
  ["link-local", "fe80::1"],
  ["link-local with zone", "fe80::1%eth0"],
  ["site-local", "fec0::1"],
  ["multicast", "ff02::1"],
  ["nobody's yet", "4000::1"],
] as const;

const publicAddresses = [
  "8.8.8.8",
  "2606:4700:4700::1111",
  "2a00:1450:4001:81b::200e",
  "::ffff:8.8.8.8",
  "64:ff9b::8.8.8.8",
] as const;

describe("an address guard's addresses (N-6)", () => {
  for (const [what, first, last, beside] of specialIpv4) {
    it(`refuses ${what} from ${first} to ${last}, and nothing beside it`, () => {
      expect(guard.permits(somewhere, first)).toBe(false);
      expect(guard.permits(somewhere, last)).toBe(false);
      for (const address of beside) expect.soft(guard.permits(somewhere, address), address).toBe(true);
    });
  }

  for (const [what, address] of specialIpv6) {
    it(`refuses ${what}: ${address}`, () => expect(guard.permits(somewhere, address)).toBe(false));
  }

  for (const address of publicAddresses) {
    it(`permits ${address}`, () => expect(guard.permits(somewhere, address)).toBe(true));
  }

  it("refuses what is no address", () => {
    for (const text of ["", "example.com", "1.2.3.4.5", "8.8.8.8/8"]) {
      expect.soft(guard.permits(somewhere, text), text).toBe(false);
    }
  });
});

describe("an address guard's URLs (N-6)", () => {
  const notPublic = [
    // however 127.0.0.1 is spelled
    "http://127.0.0.1/",
    "http://127.1/",
    "http://127.0.1:8080/hook",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.0x1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.0.0.1./",
    "http://%31%32%37.0.0.1/",
    "http://①②⑦.⓪.⓪.①/",
    "http:\\\\127.0.0.1\\",
    "http:127.0.0.1",
    " http://127.0.0.1",
    "http://1\t27.0.0.1",
    "http://0/",
    "http://0.0.0.0/",
    // and others
    "https://169.254.169.254/latest/meta-data/",
    "https://0xa9fea9fe/",
    "https://168.63.129.16/machine",
    "https://0xa83f8110/",
    "https://192.168.0.1",
    "https://[::1]/",
    "https://[::]/",
    "https://[0:0:0:0:0:0:0:1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[0:0:0:0:0:ffff:a00:1]:8443/",
    "https://[::127.0.0.1]/",
    "https://[64:ff9b::10.0.0.1]/",
    "https://[fd00:ec2::254]/",
    "https://[fe80::1]/",
  ] as const;
  for (const url of notPublic) {
    it(`refuses ${JSON.stringify(url)}`, () => {
      expect(guard.refuseUrl(url)).toMatch(/^must not point to [\d.:a-f]+, which is not a public address$/);
    });
  }

  const localNames = [
    "http://localhost:4000/webhook",
    "https://LOCALHOST/",
    "https://localhost./",
    "https://loc%61lhost/",
    "https://any.thing.localhost/",
    "https://localhost.localdomain/",
    "https://ip6-localhost/",
    "https://ｌocalhost/",
  ] as const;
  for (const url of localNames) {
    it(`refuses ${url}`, () => expect(guard.refuseUrl(url)).toContain("which is the server itself"));
  }

  const noUrls = [
    "",
    "hooks.example/path",
    "//hooks.example/path",
    "ftp://hooks.example/",
    "file:///etc/passwd",
    "data:text/plain,x",
    "javascript:alert(1)",
    "gopher://127.0.0.1:6379/_x",
    "unix:/var/run/docker.sock",
    "blob:https://hooks.example/1",
    "https://[fe80::1%25eth0]/",
    "https://[::1%lo]/",
    "https://",
    "https://1.2.3.4.5.256/",
    "https://a b/",
    "https://hooks.example:99999/",
    `https://${"a".repeat(256)}/`,
  ] as const;
  for (const url of noUrls) {
    it(`refuses ${JSON.stringify(url)} as no http or https URL`, () => {
      expect(guard.refuseUrl(url)).toMatch(/^must be an absolute http or https URL/);
    });
  }

  for (const url of [
    "https://user@hooks.example/",
    "https://:secret@hooks.example/",
    "https://a:b@8.8.8.8/",
  ]) {
    it(`refuses credentials in ${url}`, () => {
      expect(guard.refuseUrl(url)).toBe("must not carry a user name or password");
    });
  }

  const fine = [
    "https://hooks.example/a?b=c#d",
    "https://hooks.example:8443/",
    "https://mylocalhost/",
    "https://localhost.example/",
    "https://8.8.8.8/",
    "https://[2606:4700:4700::1111]/",
    "https://bücher.example/",
    "http://hooks.example/",
  ] as const;
  for (const url of fine) {
    it(`takes ${url}`, () => expect(guard.refuseUrl(url)).toBeUndefined());
  }

  it("takes what the operator lists, a cloud's own addresses too", () => {
    const listed = createAddressGuard({ allow: ["168.63.129.16"] });
    expect(listed.refuseUrl("http://168.63.129.16/")).toBeUndefined();
    expect(listed.permits({ host: "168.63.129.16", port: 80 }, "168.63.129.16")).toBe(true);
  });

  it("wants TLS, unless it is told otherwise", () => {
    const strict = createAddressGuard();
    expect(strict.refuseUrl("http://hooks.example/")).toBe("must use https");
    expect(strict.refuseUrl("https://hooks.example/")).toBeUndefined();
  });
});

describe("an address guard's allow list", () => {
  const rows = [
    ["localhost", "http://localhost:4000/", true],
    ["localhost", "http://LOCALHOST.:4000/", true],
    ["Localhost.", "http://localhost/", true],
    ["localhost", "http://127.0.0.1/", false],
    ["localhost", "http://sub.localhost/", false],
    ["localhost:4000", "http://localhost:4000/", true],
    ["localhost:4000", "http://localhost:4001/", false],
    ["hooks.internal:443", "https://hooks.internal/", true],
    ["hooks.internal:80", "http://hooks.internal/", true],
    ["127.0.0.1", "http://127.0.0.1:9/", true],
    ["127.0.0.1", "http://0x7f.1/", true],
    ["127.0.0.1", "https://[::ffff:127.0.0.1]/", true],
    ["127.0.0.1", "http://127.0.0.2/", false],
    ["::ffff:127.0.0.1", "http://127.0.0.1/", true],
    ["127.0.0.1:9000", "http://127.0.0.1:9000/", true],
    ["127.0.0.1:9000", "http://127.0.0.1/", false],
    ["10.0.0.0/8", "https://10.255.0.1/", true],
    ["10.0.0.0/8", "https://11.0.0.1.example/", true],
    ["10.0.0.0/8", "https://192.168.0.1/", false],
    ["fd00::/8", "http://[fd12::1]/", true],
    ["fd00::/8", "http://[fe80::1]/", false],
    ["[::1]", "http://[::1]:8080/", true],
    ["::1", "http://[::1]:8080/", true],
    ["[::1]:8080", "http://[::1]:8080/", true],
    ["[::1]:8080", "http://[::1]:8081/", false],
  ] as const;
  for (const [entry, url, taken] of rows) {
    it(`${taken ? "takes" : "refuses"} ${url} with ${entry}`, () => {
      expect(createAddressGuard({ allow: [entry] }).refuseUrl(url) === undefined).toBe(taken);
    });
  }

  it("keeps the other rules for what it lists", () => {
    const listed = createAddressGuard({ allow: ["localhost"] });
    expect(listed.refuseUrl("ftp://localhost/")).toBeDefined();
    expect(listed.refuseUrl("http://a:b@localhost/")).toBeDefined();
  });

  it("lets a host listed by name resolve to anything, and an address only to itself", () => {
    const byName = createAddressGuard({ allow: ["hooks.internal"] });
    expect(byName.permits({ host: "hooks.internal", port: 80 }, "10.0.0.1")).toBe(true);
    expect(byName.permits(somewhere, "10.0.0.1")).toBe(false);
    const byNetwork = createAddressGuard({ allow: ["10.0.0.0/8"] });
    expect(byNetwork.permits(somewhere, "10.0.0.1")).toBe(true);
    expect(byNetwork.permits(somewhere, "::ffff:10.0.0.1")).toBe(true);
    expect(byNetwork.permits(somewhere, "127.0.0.1")).toBe(false);
  });

  for (const entry of [
    "",
    "http://localhost",
    "a/b",
    "10.0.0.0/33",
    "localhost:0",
    "localhost:65536",
    "a@b",
    "[::1",
    "a b",
  ]) {
    it(`does not understand ${JSON.stringify(entry)}`, () => {
      expect(() => createAddressGuard({ allow: [entry] })).toThrow("an allowed address is");
    });
  }
});

describe("an address guard", () => {
  const octet = fc.nat(255);
  const octets = fc.tuple(octet, octet, octet, octet);
  const hex = (high: number, low: number): string => (high * 256 + low).toString(16);

  it("judges an IPv4 address alike in every spelling and embedding", () => {
    fc.assert(
      fc.property(octets, ([a, b, c, d]) => {
        const dotted = `${a}.${b}.${c}.${d}`;
        const permitted = guard.permits(somewhere, dotted);
        const words = `${hex(a, b)}:${hex(c, d)}`;
        for (const embedding of [`::ffff:${dotted}`, `::ffff:${words}`, `64:ff9b::${words}`]) {
          expect(guard.permits(somewhere, embedding), embedding).toBe(permitted);
          expect(guard.refuseUrl(`https://[${embedding}]/`) === undefined, embedding).toBe(permitted);
        }
        const number = ((a * 256 + b) * 256 + c) * 256 + d;
        const spellings = [
          dotted,
          `${dotted}.`,
          `${number}`,
          `0x${number.toString(16)}`,
          `0${number.toString(8)}`,
          `0x${a.toString(16)}.0${b.toString(8)}.${c * 256 + d}`,
          `${a}.${(b * 256 + c) * 256 + d}`,
        ];
        for (const host of spellings) {
          expect(guard.refuseUrl(`https://${host}/`) === undefined, host).toBe(permitted);
        }
        for (const tunnel of [
          `::${words}`,
          `2002:${words}::1`,
          `2001:0:${words}::1`,
          `64:ff9b:1::${words}`,
        ]) {
          expect(guard.permits(somewhere, tunnel), tunnel).toBe(false);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("refuses exactly what the special ranges hold", () => {
    const toNumber = (text: string): number =>
      text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
    const ranges = specialIpv4.map(([, first, last]) => [toNumber(first), toNumber(last)] as const);
    // Tunnel relays and sinkholes for reverse lookups: refused as well, and of no interest to anybody.
    const others = [/^192\.(175\.48|31\.196|52\.193)\./];
    fc.assert(
      fc.property(octets, (parts) => {
        const dotted = parts.join(".");
        const special =
          ranges.some(([first, last]) => first <= toNumber(dotted) && toNumber(dotted) <= last) ||
          others.some((pattern) => pattern.test(dotted));
        expect(guard.permits(somewhere, dotted), dotted).toBe(!special);
      }),
      { numRuns: 2_000 },
    );
  });

  it("knows whom a URL is for", () => {
    const rows = [
      ["https://Hooks.example/", { host: "hooks.example", port: 443 }],
      ["http://hooks.example/", { host: "hooks.example", port: 80 }],
      ["http://[::1]:81/", { host: "::1", port: 81 }],
    ] as const;
    for (const [url, target] of rows) expect(targetOf(new URL(url))).toEqual(target);
  });
});
