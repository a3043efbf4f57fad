/** How a report looks; light and dark as the reader's system has it. Nothing is loaded. */
export const pageStyle = `
:root { color-scheme: light dark; --text: #1c2128; --dim: #59636e; --page: #fff; --box: #f6f8fa; --line: #d1d9e0;
  --good: #1a7f37; --bad: #c62828; --open: #7d5e00; --bad-box: #ffebe9; --good-box: #e6f6ea; --open-box: #fff5d6; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --dim: #9aa4af; --page: #0d1117; --box: #161b22; --line: #30363d;
    --good: #4cc267; --bad: #ff8178; --open: #e3b341; --bad-box: #2d1517; --good-box: #10251a; --open-box: #2a2210; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1rem 4rem; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; }
p { margin: .35rem 0; }
a { color: inherit; }
.dim { color: var(--dim); }
.verdict { border-left: .4rem solid; border-radius: .3rem; padding: .75rem 1rem; margin: 1rem 0; }
.verdict strong { font-size: 1.15rem; }
.verdict.passed { background: var(--good-box); border-color: var(--good); }
.verdict.failed { background: var(--bad-box); border-color: var(--bad); }
.verdict.incomplete { background: var(--open-box); border-color: var(--open); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: .75rem 0; }
dt { color: var(--dim); }
dd { margin: 0; }
table { border-collapse: collapse; width: 100%; }
.wide { overflow-x: auto; }
.wide td { overflow-wrap: break-word; }
th, td { padding: .3rem .5rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { font-weight: 600; font-size: .85rem; white-space: nowrap; }
td.mark, th.mark { text-align: center; white-space: nowrap; overflow-wrap: normal; }
td.count { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.grow { width: 100%; min-width: 16rem; }
td.id { white-space: nowrap; overflow-wrap: normal; }
.sign.passed { color: var(--good); font-weight: 700; }
.sign.failed { color: var(--bad); font-weight: 700; }
.sign.not-run { color: var(--open); font-weight: 700; }
.sign.not-applicable { color: var(--dim); }
.sign { text-decoration: none; }
.weight { display: inline-block; border: 1px solid; border-radius: .25rem; padding: 0 .35rem; font-size: .75rem; font-weight: 700; white-space: nowrap; }
.weight.must { color: var(--bad); }
.weight.should { color: var(--open); }
.weight.may { color: var(--dim); }
td .weight { border-color: var(--line); font-weight: 600; }
article { border: 1px solid var(--line); border-radius: .4rem; padding: .9rem 1rem; margin: .9rem 0; }
article > p:first-child { margin-top: 0; }
.demand { font-weight: 600; font-size: 1.05rem; }
.seen { background: var(--bad-box); border-radius: .3rem; padding: .4rem .6rem; white-space: pre-wrap; }
details { margin: .5rem 0; }
summary { cursor: pointer; padding: .2rem 0; }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; }
@media (max-width: 45rem) { .sides { grid-template-columns: 1fr; } thead th, td.mark, th.mark { white-space: normal; } }
pre { background: var(--box); border: 1px solid var(--line); border-radius: .3rem; padding: .6rem; margin: .25rem 0 .75rem;
  font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 24rem; overflow-y: auto; }
.command { position: relative; }
.command pre { padding-right: 4.5rem; }
.command button { position: absolute; top: .35rem; right: .35rem; font: inherit; font-size: .8rem; padding: .1rem .5rem; cursor: pointer; }
.label { font-size: .85rem; color: var(--dim); margin: 0; }
code { font: .92em ui-monospace, monospace; }
@media print { details > * { display: block; } pre { max-height: none; } }
`;

/** Copies the command beside a button. Without it, commands can still be selected. */
export const pageScript = `
for (const button of document.querySelectorAll("button")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.previousElementSibling.textContent);
    button.textContent = "Copied";
  });
}
`;
