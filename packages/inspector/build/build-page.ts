// Bundles the page: `node build-page.ts FOLDER` writes it there. A process of its own, because a bundler would hold up the
// calls of an agent that is served from sources.
import { fileURLToPath } from "node:url";
import { build } from "vite";

const [, , folder] = process.argv;
if (folder === undefined) throw new Error("the folder to write to is missing");

await build({
  root: fileURLToPath(new URL("../src/page", import.meta.url)),
  configFile: false,
  logLevel: "error",
  build: {
    outDir: folder,
    emptyOutDir: false,
    target: "es2024",
    cssCodeSplit: false,
    modulePreload: false,
    rolldownOptions: {
      input: fileURLToPath(new URL("../src/page/main.tsx", import.meta.url)),
      // What the first screen does not need is loaded with the view that needs it.
      output: {
        entryFileNames: "inspector-[hash].js",
        chunkFileNames: "[name]-[hash].js",
        assetFileNames: "inspector-[hash][extname]",
      },
    },
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
});
