import type { SignatureReport, VerdictReport } from "./verdict-report.ts";

/** The verdict as programs get it: null where there is nothing. */
export function toDocument(report: VerdictReport): Readonly<Record<string, unknown>> {
  const { verification, message, subject, name, url, sha256, trust, time, known } = report;
  const { verified, reason, profile, kid, alg, uncovered } = verification;
  return withNulls({
    verified,
    reason,
    message,
    card: withNulls({ name: subject.name, version: subject.version }),
    source: url ?? name,
    sha256,
    time,
    trust,
    profile,
    kid,
    alg,
    uncovered,
    signatures: report.signatures.map(signatureDocument),
    alarms: report.alarms,
    remembered:
      known?.remembered === undefined
        ? undefined
        : {
            firstSeen: known.remembered.firstSeen,
            lastSeen: known.remembered.lastSeen,
            thumbprints: known.remembered.thumbprints,
          },
    changes: report.changes.map((change) => withNulls({ ...change })),
  });
}

function signatureDocument({ header, ...verdict }: SignatureReport): Readonly<Record<string, unknown>> {
  const { index, valid, fault, problem, profile, uncovered, thumbprint, keySource, tried, expires } = verdict;
  return withNulls({
    index,
    valid,
    fault,
    problem,
    // As they stand there: what makes them unfit for a terminal is escaped.
    kid: header?.kid ?? verdict.kid,
    alg: header?.alg ?? verdict.alg,
    typ: header?.typ,
    jku: header?.jku,
    profile,
    uncovered,
    thumbprint,
    keySource,
    expires,
    tried,
  });
}

function withNulls(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, value ?? null]));
}
