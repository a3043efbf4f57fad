import { type CardVerdict, verifyCard } from "@a2a-connect/signing";
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { shown, shownLine } from "../content/shown.ts";
import { pageFetch } from "../session/page-fetch.ts";

/** Whether the card's own server has signed it, and what its signature covers. */
export function SignaturePanel({ url, text }: { readonly url: string; readonly text: string }): JSX.Element {
  const verdict = useSignal<CardVerdict | undefined>(undefined);
  useEffect(() => {
    const left = new AbortController();
    const trustPolicy = { jku: { fetch: pageFetch } };
    void verifyCard(text, { trustPolicy, url, signal: left.signal }).then((made) => {
      if (!left.signal.aborted) verdict.value = made;
    });
    return () => left.abort();
  }, [url, text, verdict]);
  const { value } = verdict;
  if (!text.includes('"supportedInterfaces"')) {
    return (
      <section class="panel">
        <h2>Signature</h2>
        <p class="muted">This is a card of A2A 0.3: signatures are verified from 1.0 on.</p>
      </section>
    );
  }
  return (
    <section class="panel">
      <h2>Signature {value === undefined ? null : <VerdictBadge verdict={value} />}</h2>
      {value === undefined ? <p class="muted">It is being verified.</p> : <Verdict verdict={value} />}
    </section>
  );
}

function VerdictBadge({ verdict: { verified, reason } }: { readonly verdict: CardVerdict }): JSX.Element {
  if (verified) return <span class="badge is-completed">verified</span>;
  if (reason === "no-signature") return <span class="badge">not signed</span>;
  return <span class="badge is-failed">not verified</span>;
}

function Verdict({ verdict }: { readonly verdict: CardVerdict }): JSX.Element {
  const { verified, message, uncovered, signatures, alarms, profile } = verdict;
  return (
    <>
      <p>{shown(message)}</p>
      {verified ? (
        <p class="muted">
          The key is from the card's own server, so this proves that its operator signed the card, and not who
          that is. To pin a signer, give a client or <code>a2a card verify</code> a key.
        </p>
      ) : null}
      {verified ? (
        <p>
          {uncovered.length === 0
            ? `It covers every member of the card${profile === undefined ? "" : ` (profile ${profile})`}.`
            : "It does not cover:"}
        </p>
      ) : null}
      {uncovered.length === 0 ? null : (
        <ul class="tags">
          {uncovered.slice(0, 50).map((path) => (
            <li key={path} class="tag">
              <code>{shownLine(path, 120)}</code>
            </li>
          ))}
        </ul>
      )}
      {signatures.map(({ index, valid, kid, alg, problem }) => (
        <p key={index} class="muted">
          Signature {index + 1}: {valid ? "valid" : "not valid"}
          {kid === undefined ? "" : `, key ${shownLine(kid, 80)}`}
          {alg === undefined ? "" : `, ${shownLine(alg, 20)}`}
          {problem === undefined ? "" : `: ${shownLine(problem, 300)}`}
        </p>
      ))}
      {alarms.map(({ kind, text }) => (
        <p key={kind} class="notice">
          {shown(text)}
        </p>
      ))}
    </>
  );
}
