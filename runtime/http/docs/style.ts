import { TOP_STYLE } from '../documents/docs-top.ts'
import { THEME } from '../edge/theme.ts'

/**
 * The style sheet of the pages. It is a file of its own, so that a strict content security policy allows it.
 */
export const PAGES_STYLE = `${THEME}${TOP_STYLE}
.layout { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 100rem; margin: 0 auto }
.narrow { display: none }
.pages { font-size: .92rem }
.pages.wide { padding: 1rem 0 3rem; border-right: 1px solid var(--line); position: sticky; top: 0; align-self: start; height: 100vh; overflow-y: auto }
.pages h2 { margin: 1.2rem 1.5rem .3rem; font-size: .76rem; font-weight: 600; letter-spacing: .05em; text-transform: uppercase; color: var(--soft) }
.pages ul, .toc ul { list-style: none; margin: 0; padding: 0 }
.pages a { display: block; padding: .22rem 1.5rem; color: var(--text); text-decoration: none }
.pages a:hover { background: var(--line) }
.pages [aria-current] { font-weight: 650; box-shadow: inset 3px 0 var(--accent) }
main { padding: 1.8rem clamp(1rem, 4vw, 3.5rem) 5rem; min-width: 0 }
article, .hits { max-width: 54rem }
article > p, article > ul, article > ol { max-width: 46rem }
h1 { margin: 0 0 1rem; font-size: 2rem; line-height: 1.2; overflow-wrap: anywhere }
article h2 { margin: 2.6rem 0 .6rem; font-size: 1.4rem; line-height: 1.3 }
article h3 { margin: 2rem 0 .5rem; font-size: 1.12rem; overflow-wrap: anywhere }
article h4 { margin: 1.5rem 0 .4rem; font-size: 1rem }
.anchor { color: var(--soft); text-decoration: none; font-weight: 400; opacity: 0 }
:is(h2, h3, h4):hover .anchor { opacity: 1 }
:is(h2, h3, h4):target { border-left: 3px solid var(--accent); padding-left: .6rem; margin-left: -.8rem }
p, li { overflow-wrap: break-word }
article li { margin: .25rem 0 }
:not(pre) > code { background: var(--panel); border-radius: 4px; padding: .08em .3em; overflow-wrap: anywhere }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; overflow-x: auto; line-height: 1.5 }
img { max-width: 100%; height: auto }
img[src$='.webp'] { border: 1px solid var(--line); border-radius: 8px }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--soft) }
.scroll { overflow-x: auto; margin: 1rem 0 }
table { border-collapse: collapse; font-size: .93rem; min-width: min(100%, 24rem) }
table.long { width: 100% }
table.long td:first-child { min-width: 11rem }
table.long td:nth-child(2) { min-width: 6.5rem }
td code { overflow-wrap: break-word }
th, td { text-align: left; vertical-align: top; padding: .45rem 1rem .45rem 0; border-bottom: 1px solid var(--line) }
th { font-weight: 600; font-size: .84rem; color: var(--soft) }
.toc.wide { display: none }
.toc { font-size: .9rem }
.toc a { display: block; padding: .18rem 0; color: var(--soft); text-decoration: none; overflow-wrap: anywhere }
.toc a:hover { color: var(--text); text-decoration: underline }
.toc .third a { padding-left: 1rem }
summary { cursor: pointer; padding: .5rem 0; font-weight: 600 }
.neighbours { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 1rem; max-width: 54rem; margin-top: 3.5rem; padding-top: 1rem; border-top: 1px solid var(--line) }
.neighbours span { display: block; font-size: .82rem; color: var(--soft) }
.neighbours .next { margin-left: auto; text-align: right }
.hits { padding-left: 1.5rem }
.hits li { margin: 0 0 1.3rem }
.hits a { font-weight: 600 }
.hits p { margin: .15rem 0; overflow-wrap: anywhere }
.hits .where { color: var(--soft); font-size: .85rem }
mark { background: light-dark(#fff1a8, #5c4d00); color: inherit; border-radius: 2px }
@media (min-width: 82rem) {
  .layout { grid-template-columns: 17rem minmax(0, 1fr) 15rem }
  .toc.wide { display: block; padding: 1.9rem 1rem 3rem 0; position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto }
  .toc.wide p { margin: 0 0 .4rem; font-weight: 600 }
}
@media (max-width: 81.99rem) { .toc.narrow { display: block; border: 1px solid var(--line); border-radius: 8px; padding: 0 1rem; margin: 0 0 1.5rem; max-width: 54rem } .toc ul { padding-bottom: .8rem } }
@media (max-width: 56rem) {
  .layout { display: block }
  .pages.wide { display: none }
  .pages.narrow { display: block; padding: 0 1rem; border-bottom: 1px solid var(--line) }
  .pages.narrow h2, .pages.narrow a { padding-left: 0; margin-left: 0 }
  .pages.narrow [aria-current] { box-shadow: none; color: var(--accent) }
  main { padding-top: 1.2rem }
  h1 { font-size: 1.6rem }
  .pages a, .toc a { padding-top: .4rem; padding-bottom: .4rem }
}
@media (max-width: 40rem) {
  table.long, table.long tbody, table.long tr, table.long td { display: block }
  table.long thead { display: none }
  table.long tr { border: 1px solid var(--line); border-radius: 8px; padding: .5rem .8rem; margin: 0 0 .7rem }
  table.long td:is(td, :first-child, :nth-child(2)) { border: 0; padding: .15rem 0; min-width: 0; overflow-wrap: anywhere }
  table.long td:empty { display: none }
  table.long td[data-label]:not(:first-child)::before { content: attr(data-label) ': '; color: var(--soft); font-size: .85em }
}
@media print { .pages, .toc, .neighbours { display: none !important } .layout { display: block } }
`
