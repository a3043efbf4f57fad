import { createMemoryTaskStore } from "@a2a-connect/server";
import { taskStoreContract } from "./task-store-contract.ts";

taskStoreContract("the memory store", async () => ({ store: createMemoryTaskStore() }));
