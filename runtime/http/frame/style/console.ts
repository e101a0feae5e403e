/** Styles of the console alone: its side, figures, differences, chosen rows, pictures. */
export const CONSOLE_STYLE = `
/* A part that follows a sync may be empty. */
[data-events]:empty { display: none }
/* Console: the side is a strip of links on narrow screens. */
:root { --side: 14.5rem; --mark-2: light-dark(#2f52ac, #aac2ff); --mark-3: light-dark(#16264d, #dde7ff) }
.diff { display: grid; grid-template-columns: var(--fr) }
.bulk, .key { display: flex; flex-wrap: wrap; align-items: center; gap: var(--s2) var(--s3) }
.side a, .key li { display: flex; align-items: center; gap: .5rem }
.side a { color: var(--soft); font-weight: 550; text-decoration: none; white-space: nowrap; padding: .35rem .6rem; border-radius: var(--r2) }
.side a:hover { color: var(--text); background: var(--sunken) }
.side a:focus-visible { outline-offset: -2px }
.side { position: sticky; top: var(--top); z-index: 4; display: flex; gap: var(--s1); overflow-x: auto; scrollbar-width: none; padding: .35rem var(--s3); border-bottom: var(--hair); background: var(--surface) }
.side h2 { display: none; padding: var(--s4) .6rem .3rem; font-size: var(--t1); color: var(--soft) }
.side ul { display: flex; gap: var(--s1) }
.side a .i { display: none }
.side [aria-current] { background: var(--accent-tint); color: var(--accent-strong); font-weight: 600 }

/* Figures */
.stats { display: grid; grid-template-columns: repeat(2, var(--fr)); gap: 1px; overflow: hidden; background: var(--line) }
.stat { padding: .8rem var(--s4); background: var(--surface); min-width: 0 }
.stat dt { font-size: var(--t2); color: var(--soft) }
.stat dd { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 var(--s2) }
.stat b { font-size: var(--t6); line-height: 1.3; font-variant-numeric: tabular-nums }
.stat .spark { margin-left: auto; align-self: center }
.stat .small { width: 100%; color: var(--soft) }

/* Chosen rows, difference, progress */
tbody tr:has(:checked) > * { background: var(--accent-tint) }
.pick { width: 2.4rem }
.c2 { display: none }
.half { width: 45% }
.bulk { position: sticky; bottom: 0; z-index: 3; padding: .7rem var(--s4); background: var(--raised); border: 1px solid var(--edge); border-radius: var(--r3); box-shadow: var(--float) }
.bulk input:not([type=checkbox]) { flex: 1 1 12rem; width: auto }
.diff > li { position: relative; padding: .65rem var(--s4) .65rem 2rem; overflow-wrap: anywhere }
.diff > li:not(:last-child) { border-bottom: var(--hair) }
.diff > li::before { content: '=' / 'unchanged:'; position: absolute; left: .9rem; font-weight: 700 }
.diff > .plus { background: var(--good-tint) }
.diff > .plus::before { content: '+' / 'added:'; color: var(--good) }
.diff > .minus { background: var(--bad-tint) }
.diff > .minus::before { content: '−' / 'removed:'; color: var(--bad) }
progress { display: block; width: 100%; height: .4rem; border: 0; border-radius: 1rem; overflow: hidden; appearance: none; background: var(--track); --km: var(--mark) }
progress::-webkit-progress-bar { background: var(--track) }
progress::-webkit-progress-value { background: var(--km) }
progress::-moz-progress-bar { background: var(--km) }

/* Pictures */
.fall, .chart, .graph { width: 100% }
.spark { width: 5rem; height: 1.25rem }
.fall { min-width: 4rem; height: 1.1rem }
.e { --km: var(--mark-idle); fill: none; stroke: var(--km); stroke-width: 2 }
.e.good { --km: var(--mark-good) }
.e.wait { --km: var(--mark-wait) }
.e.bad { --km: var(--mark-bad) }
.e.rule { --km: var(--mark-rule) }
.e.busy { --km: var(--mark) }
.thick { stroke-width: 4 }
.dash { stroke-dasharray: 6 4 }
.dots { stroke-dasharray: 2 4 }
.p95 { --km: var(--mark-2) }
.p99 { --km: var(--mark-3) }
.grid { stroke: var(--line) }
:is(.chart, .graph) text { fill: var(--soft); font: 11px var(--sans) }
.graph { min-width: 35rem }
.graph .node { fill: var(--surface); stroke: var(--km, var(--edge)) }
.graph .core { fill: var(--accent-tint) }
:is(.chart, .graph) .b { fill: var(--text); font-size: 12px; font-weight: 620 }
.graph .mono { font-family: var(--mono) }
.graph a:focus-visible .node { stroke: var(--accent); stroke-width: 3 }
.graph a:hover .b { text-decoration: underline }
.key { font-size: var(--t2); color: var(--soft) }
.key svg { width: 1.25rem; flex: none }

@media (max-width: 47.99rem) { .stat:last-child:nth-child(odd) { grid-column: 1 / -1 } }
@media (min-width: 48rem) {
  .frame { display: grid; grid-template-columns: var(--side) var(--fr) }
  .side { display: block; align-self: start; height: calc(100vh - var(--top)); overflow: auto; padding: var(--s3); border: 0; border-right: var(--hair); background: none }
  .side ul { display: grid; gap: 1px }
  .side h2, .side a .i { display: block }
  .side a { white-space: normal }
  .side .count { margin-left: auto }
  .stats { grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)) }
}
@media (min-width: 75rem) { .c2 { display: table-cell } }
@media (pointer: coarse) { .side a { min-height: 2.75rem } }
@media (forced-colors: active) { .e { stroke: CanvasText } }
@media print { .side, .bulk { display: none !important } }
`
