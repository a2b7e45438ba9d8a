/** The styles of a report, which are part of its file. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --text: light-dark(#1b1f27, #e6e8ec);
  --muted: light-dark(#586071, #9aa3b2);
  --line: light-dark(#dfe3ea, #2e333d);
  --sunken: light-dark(#f4f5f8, #1c1f25);
  --accent: light-dark(#2f4fd0, #8aa4ff);
  --good: light-dark(#176b3a, #63d297);
  --bad: light-dark(#b3261e, #ff8f86);
  --added: light-dark(#e3f6e8, #14301d);
  --removed: light-dark(#fde9e7, #3a1b1a);
}
* { box-sizing: border-box; }
body {
  margin: 0;
  background: light-dark(#fff, #14161a);
  color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: anywhere;
}
main { max-width: 56rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { margin: 0 0 1rem; font-size: 1.75rem; line-height: 1.25; }
h2 { margin: 2.5rem 0 0.75rem; padding-bottom: 0.3rem; border-bottom: 1px solid var(--line); font-size: 1.25rem; }
h3 { margin: 1.5rem 0 0.5rem; font-size: 1rem; }
a { color: var(--accent); }
dl { display: grid; gap: 0.15rem 1rem; margin: 0.5rem 0 1rem; font-size: 0.875rem; }
dl > div { display: grid; grid-template-columns: 8rem 1fr; gap: 1rem; }
dt { color: var(--muted); }
dd { margin: 0; }
pre, code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 0.8125rem; }
pre { overflow: auto; margin: 0.5rem 0; padding: 0.75rem 1rem; border-radius: 6px; background: var(--sunken); white-space: pre-wrap; }
:not(pre) > code { padding: 0.1em 0.3em; border-radius: 4px; background: var(--sunken); }
img { display: block; max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: 6px; }
.checklist, .history { padding: 0; list-style: none; }
.checklist li { padding-left: 1.6rem; text-indent: -1.6rem; }
.checklist li::before { display: inline-block; width: 1.6rem; text-indent: 0; content: "\\25CB"; color: var(--muted); }
.checklist li.good::before { content: "\\2713"; color: var(--good); }
.history { font-size: 0.875rem; }
.history li { padding: 0.2rem 0; }
time { display: inline-block; min-width: 10.5rem; color: var(--muted); font-variant-numeric: tabular-nums; }
.said { margin: 0.15rem 0 0.3rem; padding-left: 0.75rem; border-left: 3px solid var(--line); color: var(--muted); white-space: pre-line; }
article { margin-bottom: 1.5rem; }
details { margin: 0.4rem 0; border: 1px solid var(--line); border-radius: 6px; }
summary { padding: 0.4rem 0.75rem; cursor: pointer; font-size: 0.875rem; }
details > pre { margin: 0; border-radius: 0 0 6px 6px; }
table { border-collapse: collapse; max-width: 100%; font-size: 0.875rem; }
.markdown th, .markdown td { padding: 0.3rem 0.6rem; border: 1px solid var(--line); text-align: left; }
.diff { width: 100%; font: 0.75rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.diff td { padding: 0 0.4rem; vertical-align: top; white-space: pre-wrap; }
.diff .line-number { width: 3rem; color: var(--muted); text-align: right; user-select: none; }
.diff .hunk td { background: var(--sunken); color: var(--muted); }
.diff .added { background: var(--added); }
.diff .removed { background: var(--removed); }
.diff .code::before { display: inline-block; width: 1.2em; content: ""; }
.diff .added .code::before { content: "+"; }
.diff .removed .code::before { content: "\\2212"; }
.additions { color: var(--good); }
.deletions { color: var(--bad); }
.diff-note { margin: 0.4rem 0.75rem; color: var(--muted); font-size: 0.8125rem; }
@media (max-width: 40rem) {
  dl > div { grid-template-columns: 1fr; gap: 0; }
  time { display: block; }
}
@media print {
  :root { color-scheme: light; }
  main { max-width: none; padding: 0; }
  h2, h3, summary { break-after: avoid; }
  img, tr, .history li { break-inside: avoid; }
  details::details-content { block-size: auto; content-visibility: visible; }
  * { print-color-adjust: exact; }
}
`
