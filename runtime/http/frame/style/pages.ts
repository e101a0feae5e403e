/** Lists, notes, dialogs, the inbox, sign-in, and rules that depend on the width. */
export const PARTS_STYLE = `
/* Lists */
.kv { display: grid; grid-template-columns: fit-content(45%) var(--fr); gap: .45rem var(--s4) }
.kv dt { color: var(--soft) }
.kv dd { overflow-wrap: anywhere }
.line > li { position: relative; display: grid; grid-template-columns: 1.5rem var(--fr); gap: 0 .65rem }
.line > li:not(:last-child) { padding-bottom: .9rem }
.line > li:not(:last-child)::before { content: ''; position: absolute; left: .7rem; top: 1.5rem; bottom: 0; width: 2px; background: var(--line) }
:where(.lines, .have, .list ul) > li { padding: .65rem var(--s4); overflow-wrap: anywhere }
:where(.lines, .have, .list ul) > li:not(:last-child) { border-bottom: var(--hair) }
.lines > li:has(> .dot) { display: grid; grid-template-columns: auto var(--fr); gap: .7rem }

/* Note, flash, empty, waiting, progress */
.note { display: flex; gap: .7rem; padding: .7rem var(--s4); border: var(--hair); border-left: 3px solid var(--km); border-radius: var(--r2); background: var(--surface) }
.note > .i { margin-top: .2rem; color: var(--k) }
.note > div { flex: 1; min-width: 0 }
.flash { box-shadow: var(--float); background: var(--raised) }
.empty { display: grid; justify-items: center; gap: var(--s3); padding: var(--s7) var(--s4); text-align: center; color: var(--soft) }
.empty > .i { width: 1.75rem; height: 1.75rem }
.empty :is(h2, h3) { color: var(--text) }
.empty p { max-width: 30rem }
@keyframes turn { to { rotate: 1turn } }

/* Code, more, dialog */
.code { display: flex; align-items: center; gap: var(--s2); padding: .5rem .5rem .5rem var(--s3); border: var(--hair); border-radius: var(--r2); background: var(--sunken) }
.code pre { flex: 1; margin: 0; overflow-x: auto }
.more > summary { width: fit-content; padding: .15rem 0; cursor: pointer; font-size: var(--t2); color: var(--accent) }
dialog { width: min(32rem, calc(100% - 2rem)); padding: 0 }
dialog::backdrop { background: #0009 }
dialog:target:not([open]) { display: block; position: static; width: 100% }
dialog > form { display: grid; gap: var(--s4); padding: var(--s5) }
dialog .row:last-child { justify-content: flex-end }

/* Inbox: list next to detail; when narrow, one of them. */
.list { background: var(--surface); min-width: 0 }
.split.open > .list, .split:not(.open, .clear) > .detail { display: none }
.detail { padding: var(--s4); min-width: 0 }
.detail > [data-events] { display: contents }
.list > header { padding: var(--s3) var(--s4) 0 }
.list > header :is(h1, h2) { font-size: var(--t4); line-height: 1.35; font-weight: 620 }
a:has(> kbd) { text-decoration: none }
a > span:has(+ kbd) { text-decoration: underline }
.list ul > li { position: relative; display: grid; grid-template-columns: auto var(--fr) auto; gap: .1rem .65rem }
.list li:hover { background: var(--sunken) }
.list li:has([aria-current]) { background: var(--accent-tint); box-shadow: inset 3px 0 var(--accent) }
.list li:has([aria-current]) .avatar { background: var(--surface) }
.list .badge { margin-top: .3rem }
.quote { padding-left: var(--s4); border-left: 3px solid var(--edge); font-size: var(--t4); max-width: 46rem }
.ask { font-size: var(--t5); font-weight: 450 }
.ask b { font-weight: 650 }
.decide { align-items: flex-end }
.decide .field { flex: 1 1 22rem }
.decide > .hints { flex: 1 1 100%; list-style: none }
.decide textarea { min-height: var(--control) }
.have + .more { border-top: var(--hair) }
.more:has(> .have) > summary { padding: .65rem var(--s4) }
.have > li { display: grid; gap: .4rem var(--s5); align-items: center }

/* Pictures. Sizes are attributes of the SVG, colours are here. f fills an area, e draws a line. */
.life { width: 100% }
.life { height: .375rem; border-radius: 1rem }
.f { --km: var(--mark-idle) }
.f { fill: var(--km) }
.m0 { fill: var(--track) }

/* Kinds come after the components that they colour. */
.good { --k: var(--good); --kt: var(--good-tint); --km: var(--mark-good) }
.wait { --k: var(--wait); --kt: var(--wait-tint); --km: var(--mark-wait) }
.bad { --k: var(--bad); --kt: var(--bad-tint); --km: var(--mark-bad) }
.rule { --k: var(--rule); --kt: var(--rule-tint); --km: var(--mark-rule) }
.busy { --k: var(--accent-strong); --kt: var(--accent-tint); --km: var(--mark) }
.t { color: var(--k) !important }

/* Sign-in */
.door { display: grid; gap: var(--s5); grid-template-columns: minmax(0, 24rem); justify-content: center; padding: 12vh var(--s4) var(--s7) }
.door .brand { justify-content: center; font-size: var(--t5) }
.door form .btn { width: 100%; min-height: 2.75rem }
.or { font-size: var(--t2); color: var(--soft) }
.or::before, .or::after { content: ''; flex: 1; height: 1px; background: var(--line) }

@media (max-width: 47.99rem) {
  .wide-only, .top .brand span { display: none !important }
  /* Words stay whole: a badge wraps to a second line, and wider content scrolls. */
  tbody > tr > :not(.num, .c3, :empty, :has(> input)) { min-width: 7rem }
  tbody > tr > th:not(.num, :has(> input)) { min-width: 8.5rem }
  tbody > tr > td:has(> .sub.t) { min-width: 9rem }
  tbody > tr > td:has(> .mono) { min-width: 14rem }
  /* An address of usual length stays whole. A longer one breaks, or one row would widen the table. */
  tbody .mail { display: inline-block; max-width: 15rem; overflow-wrap: break-word }
  td .badge { white-space: normal; overflow-wrap: normal; line-height: 1.3; padding-block: .15rem }
}
@media (min-width: 48rem) {
  h1 { font-size: var(--t6) }
  .narrow-only { display: none !important }
  .top { gap: var(--s4) }
  .areas a { padding: 0 .8rem; font-size: var(--t3) }
  .find { display: block }
  .find + .menu { margin-left: 0 }
  .page { padding: var(--s5) var(--s6) var(--s7) }
  .c3 { display: table-cell }
  .split { grid-template-columns: 21rem var(--fr) }
  .split > .list { display: block !important; position: sticky; top: var(--top); height: calc(100vh - var(--top)); overflow: auto; border-right: var(--hair) }
  .split > .detail { display: grid !important; padding: var(--s5) var(--s6); max-width: 66rem }
  .have > li { grid-template-columns: var(--fr) 15rem }
  .halves { grid-template-columns: repeat(2, var(--fr)) }
}
@media (min-width: 75rem) {
  .have > li { grid-template-columns: 14rem var(--fr) 15rem 13.5rem }
  .have > li > :last-child { justify-content: flex-end }
  .sticky thead th { position: sticky; top: var(--top); z-index: 2; box-shadow: inset 0 -1px var(--line) }
  .sticky .scroll { overflow: visible }
  .cols { grid-template-columns: var(--fr) 20rem }
  .detail .cols { grid-template-columns: var(--fr) 15rem }
}
@media (pointer: coarse) { .tabs a { min-height: 2.75rem } .btn.less { min-height: 2.25rem } }
@media (prefers-reduced-motion: reduce) { * { animation: none !important } }
@media (forced-colors: active) { .badge, .dot, .avatar { border: 1px solid } .f { fill: CanvasText } }
@media print { .top, .filter, .decide, .btn { display: none !important } }
`
