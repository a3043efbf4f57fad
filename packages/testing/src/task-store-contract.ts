import { describe } from "vitest";
import { commitSuite } from "./task-store/commit-suite.ts";
import { deliverySuite } from "./task-store/delivery-suite.ts";
import { expirySuite } from "./task-store/expiry-suite.ts";
import { keySuite } from "./task-store/key-suite.ts";
import { lifetimeSuite } from "./task-store/lifetime-suite.ts";
import { listSuite } from "./task-store/list-suite.ts";
import { type OpenTaskStore, storeTest } from "./task-store/opened-store.ts";
import { propertySuite } from "./task-store/property-suite.ts";
import { pushConfigSuite } from "./task-store/push-config-suite.ts";
import { readSuite } from "./task-store/read-suite.ts";

/**
 * The behaviour of every TaskStore, as a vitest suite. Call it at the top of a test file.
 *
 * The suite calls `open` inside the tests. It makes a new, empty store each time; the suite closes it. If the store
 * outlives its process, give `reopen` as well.
 */
export function taskStoreContract(name: string, open: OpenTaskStore): void {
  describe(`${name} keeps the contract of TaskStore`, () => {
    const it = storeTest(open);
    commitSuite(it);
    readSuite(it);
    listSuite(it);
    pushConfigSuite(it);
    deliverySuite(it);
    keySuite(it);
    expirySuite(it);
    lifetimeSuite(open);
    propertySuite(open);
  });
}
