// Imported first by every entry of this package and by the command: an older Node gets a sentence and not a stack. What it
// lacks must therefore not be imported by name anywhere before, which fails before any code runs.

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  throw new Error(`a2a-connect needs Node 22.18 or newer, and this is Node ${process.versions.node}`);
}

if ("bun" in process.versions) {
  throw new Error(
    "@a2a-connect/node does not run on Bun, whose HTTP/2 and undici lack what it needs: serve with toFetchHandler of @a2a-connect/server/mount, and call with connectAgent of @a2a-connect/client (docs/mount.md)",
  );
}

export {};
