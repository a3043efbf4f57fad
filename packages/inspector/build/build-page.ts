// Bundles the page: `node build-page.ts FOLDER` writes it there. A process of its own, because a bundler would hold up the
// calls of an agent that is served from sources.
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, type InlineConfig } from "vite";

const [, , folder] = process.argv;
if (folder === undefined) throw new Error("the folder to write to is missing");

const common = {
  configFile: false,
  logLevel: "error",
  publicDir: false,
} satisfies InlineConfig;
const output = { outDir: folder, emptyOutDir: false, target: "es2024", modulePreload: false } as const;

const kit = "@a2a-connect/conformance/browser";

// The conformance kit by itself: what it shares with the page would be split off, and make every visit larger.
await build({
  ...common,
  build: {
    ...output,
    lib: {
      entry: fileURLToPath(import.meta.resolve(kit)),
      formats: ["es"],
    },
    minify: true,
    rolldownOptions: { output: { entryFileNames: "kit-[hash].js", codeSplitting: false } },
  },
});
const kitFile = (await readdir(folder)).find((file) => file.startsWith("kit-"));

await build({
  ...common,
  root: fileURLToPath(new URL("../src/page", import.meta.url)),
  plugins: [
    {
      name: "kit",
      enforce: "pre",
      resolveId: (id) => (id === kit ? { id: `./${kitFile}`, external: true } : undefined),
    },
    {
      // Vite's own loads styles before a chunk; here all style is in one file.
      name: "no-preload",
      enforce: "pre",
      load: (id) =>
        id.includes("vite/preload-helper") ? "export const __vitePreload = (load) => load();" : undefined,
    },
  ],
  build: {
    ...output,
    cssCodeSplit: false,
    rolldownOptions: {
      input: fileURLToPath(new URL("../src/page/main.tsx", import.meta.url)),
      // What the first screen does not need is loaded with the view that needs it.
      output: {
        entryFileNames: "inspector-[hash].js",
        chunkFileNames: "[name]-[hash].js",
        assetFileNames: "inspector-[hash][extname]",
        // One file for all that several of them share: many small ones compress worse.
        codeSplitting: { groups: [{ name: "shared", minShareCount: 2 }] },
      },
    },
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
});
