import { bytes, fileUrl, json, text } from "@a2a-connect/core";
import { defineAgent, type TurnAgent } from "@a2a-connect/server";

const script = `<script>globalThis.stolen = true</script>`;
const image = `<img src="http://evil.example/pixel.png" onerror="globalThis.stolen = true">`;
const reversed = "invoice\u202egpj.exe";
const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="globalThis.stolen = true"><script>globalThis.stolen = true</script></svg>`;

const markdown = `# ${script}

${image} ![a picture](http://evil.example/picture.png) [your bank](javascript:globalThis.stolen=true)
[a bank](https://evil.example/login) <https://evil.example/plain>

| ${script} | b |
| --- | --- |
| [x](data:text/html,${script}) | ${"*".repeat(5_000)} |

${"> ".repeat(500)}deep ${"[".repeat(10_000)}
`;

/** Everything that an agent may try with a page that shows its words. */
export const hostileAgent: TurnAgent = {
  card: {
    name: `Nice\u202e ${script}`,
    description: `${image} ${script}`,
    version: `1.0${script}`,
    defaultInputModes: ["*/*"],
    defaultOutputModes: ["*/*"],
    iconUrl: "http://evil.example/icon.png",
    documentationUrl: "javascript:globalThis.stolen=true",
    provider: { organization: script, url: "javascript:globalThis.stolen=true" },
    skills: [
      { id: "s", name: script, description: image, tags: [script], examples: ["attack", `"><b>${script}`] },
    ],
  },
  async *execute(turn) {
    if (turn.text === "ask") {
      const form = {
        choices: [script, reversed, `<b onclick="globalThis.stolen=true">yes</b>`],
        schema: {
          type: "object",
          properties: { [script]: { type: "string", title: image, enum: [script] } },
        },
      };
      yield turn.inputRequired([text(script), json(form)]);
      return;
    }
    yield turn.working(script);
    yield turn.artifact({
      id: `"><script>`,
      name: script,
      parts: [
        text(markdown, { mediaType: "text/markdown" }),
        text(`${reversed}\u0007\u001b[31m ${script}`),
        text("x".repeat(3_000_000)),
        bytes(new TextEncoder().encode(svg), { mediaType: "image/svg+xml", filename: `../${reversed}` }),
        bytes(new TextEncoder().encode(svg), { mediaType: "image/png", filename: script }),
        bytes(new TextEncoder().encode(script), { mediaType: "text/html", filename: "page.html" }),
        fileUrl("http://evil.example/file.png", { mediaType: "image/png" }),
        fileUrl("javascript:globalThis.stolen=true", { filename: "harmless.txt" }),
        json([{ [script]: script, "\u202e": reversed }]),
        json({
          constructor: { prototype: script },
          list: Array.from({ length: 20_000 }, (_, index) => index),
        }),
      ],
    });
    yield turn.fail(`${script} ${reversed}`);
  },
};
defineAgent(hostileAgent);
