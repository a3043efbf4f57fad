import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { numberedName, safeFileName } from "./safe-file-name.ts";

/** Of any code points. `unit: "binary"` of fast-check keeps a table of all of them: 85 MB, as long as the process lives. */
const anyText = fc.oneof(
  fc.string(),
  fc.array(fc.nat(0x10_ffff)).map((codePoints) => String.fromCodePoint(...codePoints)),
);

describe("safeFileName", () => {
  it("reads the beginning and the end of a name, which an agent may make as long as an answer", () => {
    const unseen = "\ufe0f".repeat(10_000);
    expect(safeFileName(`a${unseen}b${unseen}c.pdf`)).toBe("ac.pdf");
  });

  for (const [name, want] of [
    ["report.pdf", "report.pdf"],
    ["Größe 日本.txt", "Größe 日本.txt"],
    ["../../etc/passwd", "passwd"],
    ["..\\..\\windows\\system.ini", "system.ini"],
    ["/", "file"],
    ["a/", "file"],
    ["", "file"],
    [".", "file"],
    ["..", "file"],
    ["...", "file"],
    [" . . ", "file"],
    [".bashrc", "bashrc"],
    [".ssh/authorized_keys", "authorized_keys"],
    ["name.", "name"],
    ["name. . ", "name"],
    ["a\0b\x1b[31m\n.txt", "ab_.txt"],
    ["-rf", "rf"],
    ["--output=x.txt", "output=x.txt"],
    ["~root", "root"],
    ["~/.ssh/config", "config"],
    [" -.-~ notes.txt", "notes.txt"],
    ["-", "file"],
    ["#backup#", "backup#"],
    ["a$(id)`id`;b&c!d'e", "a_(id)_id_;b&c!d'e"],
    ["tag\u{e0061}ged \u2028 text", "tagged _ text"],
    ["family 👩‍👩‍👧.png", "family 👩‍👩‍👧.png"],
    ["annex\u202efdp.exe", "annexfdp.exe"],
    ["zero\u200bwidth", "zerowidth"],
    ['a<b>c:d"e|f?g*h', "a_b_c_d_e_f_g_h"],
    ["C:evil.txt", "C_evil.txt"],
    ["file.txt:stream", "file.txt_stream"],
    ["CON", "_CON"],
    ["con.txt", "_con.txt"],
    ["nul.tar.gz", "_nul.tar.gz"],
    ["COM1", "_COM1"],
    ["lpt9.doc", "_lpt9.doc"],
    ["aux .txt", "_aux.txt"],
    ["console.log", "console.log"],
    ["a2a.config.yaml", "_a2a.config.yaml"],
    ["docs/A2A.Config.YAML", "_A2A.Config.YAML"],
    ["a2a.con\ufb01g.yaml", "_a2a.con\ufb01g.yaml"],
    [".a2a.config", "_a2a.config"],
    ["a2a.config .yaml", "_a2a.config.yaml"],
    ["a2a.config\u00a0.yaml", "_a2a.config.yaml"],
    [`a2a.config${" ".repeat(240)}x.yaml`, "_a2a.config.yaml"],
    [`con${" ".repeat(250)}x.txt`, "_con.txt"],
    ["a2a.configuration.yaml", "a2a.configuration.yaml"],
    ["COM10", "COM10"],
  ] as const) {
    it(`makes ${JSON.stringify(want)} of ${JSON.stringify(name)}`, () =>
      expect(safeFileName(name)).toBe(want));
  }

  it("shortens a long name, keeps its extension and splits no character", () => {
    const short = safeFileName(`${"日".repeat(500)}.jpeg`);
    expect(short).toMatch(/^日+\.jpeg$/);
    expect(Buffer.byteLength(numberedName(short, 9_999))).toBeLessThanOrEqual(255);
    expect(Buffer.byteLength(short)).toBeGreaterThan(240);
    expect(safeFileName(`a.${"x".repeat(300)}`)).toHaveLength(249);
  });

  it("reads each character once, however many dots there are within", () => {
    expect(safeFileName(`${".x".repeat(10)}${".".repeat(1_000_000)}y`)).toMatch(/^x(?:\.x){9}\.+y$/);
  });

  it("is a name that any system takes, whatever the name", () => {
    fc.assert(
      fc.property(anyText, (name) => {
        const safe = safeFileName(name);
        expect(safe).not.toMatch(/^[.\s~#-]|[.\s]$|[/\\<>:"|?*]|\p{Cc}/u);
        expect(safe).not.toBe("");
        expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(249);
        expect(safeFileName(safe)).toBe(safe);
      }),
    );
  });
});

describe("numberedName", () => {
  for (const [name, want] of [
    ["report.pdf", "report-2.pdf"],
    ["report", "report-2"],
    ["a.tar.gz", "a.tar-2.gz"],
  ] as const) {
    it(`makes ${want} of ${name}`, () => expect(numberedName(name, 2)).toBe(want));
  }
});
