import type { JSX } from "preact";
import { shown } from "../content/shown.ts";
import { linkTo } from "../route.ts";
import type { Failure } from "../session/failure.ts";

/** What went wrong, and what to do. */
export function FailureNotice({ failure }: { readonly failure: Failure }): JSX.Element {
  return (
    <div class="notice is-bad" role="alert">
      <p>
        {shown(failure.message)} {failure.reason === undefined ? null : <code>{shown(failure.reason)}</code>}
      </p>
      {failure.needsCredentials ? (
        <p>
          <a href={linkTo("card")}>Enter credentials</a> that the agent asks for, and try again.
        </p>
      ) : null}
      {failure.hint === undefined ? null : <p class="muted">{shown(failure.hint)}</p>}
    </div>
  );
}
