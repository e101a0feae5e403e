import { THEME } from '../edge/theme.ts'
import { TOP_STYLE } from './docs-top.ts'

/**
 * The style sheet of the API reference. It is a file of its own, so that a strict content security policy
 * allows it.
 */
export const DOCS_STYLE = `${THEME}${TOP_STYLE}
:root {
  --post: var(--good);
  --get: var(--accent);
  --write: var(--caution);
}
.layout { display: grid; grid-template-columns: 19rem minmax(0, 1fr); min-height: 100vh }
.operations { background: var(--panel); border-right: 1px solid var(--line); padding: 1.5rem 0 3rem; position: sticky; top: 0; height: 100vh; overflow-y: auto }
.operations h2 { margin: 1.4rem 1.5rem .3rem; font-size: .76rem; font-weight: 600; letter-spacing: .05em; text-transform: uppercase; color: var(--soft) }
.operations ul { list-style: none; margin: 0; padding: 0 }
.operations li a { display: block; padding: .17rem 1.5rem; color: var(--text); text-decoration: none; font-size: .88rem; overflow-wrap: anywhere }
.operations li a:hover { background: var(--line) }
main { padding: 2.5rem clamp(1rem, 4vw, 4rem) 6rem; max-width: 66rem }
h1 { margin: 0; font-size: 2rem; line-height: 1.2 }
main h2 { margin: 3.5rem 0 .2rem; font-size: 1.45rem }
.lead { color: var(--soft); margin: .4rem 0 0; max-width: 44rem }
article { border: 1px solid var(--line); border-radius: 10px; margin: 1.2rem 0; padding: 1.1rem 1.3rem 1.3rem }
article:target { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent) }
article h3 { margin: 0 0 .35rem; font-size: 1.08rem; overflow-wrap: anywhere }
article > p { margin: .35rem 0 }
article h4 { margin: 1.1rem 0 .3rem; font-size: .8rem; font-weight: 600; color: var(--soft); text-transform: uppercase; letter-spacing: .04em }
.route { display: flex; flex-wrap: wrap; gap: .3rem .6rem; align-items: center; margin: .2rem 0 .5rem }
.route code { overflow-wrap: anywhere }
.tag { font-size: .74rem; font-weight: 650; letter-spacing: .03em; border: 1px solid currentColor; border-radius: 5px; padding: .03rem .4rem; white-space: nowrap }
.post { color: var(--post) } .get { color: var(--get) } .write { color: var(--write) } .read, .open { color: var(--soft) }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; margin: .4rem 0; overflow-x: auto; line-height: 1.45 }
details { margin: .35rem 0 }
summary { cursor: pointer; color: var(--accent); font-size: .92rem; width: fit-content }
table { border-collapse: collapse; width: 100%; margin: .4rem 0; font-size: .92rem }
th, td { text-align: left; vertical-align: top; padding: .4rem .7rem .4rem 0; border-bottom: 1px solid var(--line) }
th { font-weight: 600; font-size: .8rem; color: var(--soft) }
tr:last-child > td { border-bottom: 0 }
td:first-child { width: 15rem; overflow-wrap: anywhere }
td table { margin: .3rem 0 .2rem; border-left: 2px solid var(--line) }
td table th, td table td { padding-left: .8rem }
.required { display: block; color: var(--write); font-size: .76rem }
.type { color: var(--soft); overflow-wrap: anywhere }
.note { margin: 0; color: var(--soft); font-size: .9em }
.member > :is(p, div) { margin: 0 }
.statuses { margin: .3rem 0; padding-left: 1.2rem; font-size: .92rem }
@media (max-width: 56rem) {
  .layout { display: block }
  .operations { position: static; height: auto; max-height: 35vh; border-right: 0; border-bottom: 1px solid var(--line) }
  td:first-child { width: 9rem }
  td td:first-child { width: 45% }
}
@media (max-width: 40rem) {
  main :is(table, tbody, tr, td) { display: block; width: auto }
  main thead { display: none }
  main tr { border-bottom: 1px solid var(--line); padding: .35rem 0 }
  main td { border: 0; padding: .1rem 0; overflow-wrap: anywhere }
  main td table { padding-left: .6rem }
  main td table td { padding-left: 0 }
}
@media print { .operations { display: none } .layout { display: block } }
`
