export * from "@a2a-connect/node/client";
