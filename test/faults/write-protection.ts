import { DatabaseSync } from "node:sqlite";

/** Makes databases refuse writes that are open already, as a file system does that has become read-only. */
export interface WriteProtection {
  /** On: every write fails with SQLITE_READONLY. */
  set(on: boolean): void;
}

/**
 * Watches every database that this process opens from now on. A store does not lend its connection, and a file that is
 * open can be made read-only by nobody else, so the class that opens them is where to stand.
 */
export function watchDatabases(): WriteProtection {
  const opened = new Set<DatabaseSync>();
  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function (sql) {
    opened.add(this);
    exec.call(this, sql);
  };
  return {
    set(on) {
      for (const database of opened) exec.call(database, `pragma query_only = ${on ? 1 : 0}`);
    },
  };
}
