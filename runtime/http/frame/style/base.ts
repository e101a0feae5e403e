/** Base styles: elements, space, the top bar. */
export const BASE_STYLE = `
/* Components; needs tokens.css. Narrow first; layout changes at 48rem and 75rem.
   Kinds (good, wait, bad, busy, rule) set --k, --kt and --km, which colour the components. */
*, ::before, ::after { box-sizing: border-box }
html { scroll-padding: calc(var(--top) + var(--s4)) 0 var(--s5) }
html:has(.decide) { scroll-padding-bottom: 12rem }
body { margin: 0; background: var(--bg); color: var(--text); font: var(--t3)/1.5 var(--sans) }
:is(h1, h2, h3, p, ul, ol, dl, dd, fieldset, blockquote) { margin: 0; padding: 0 }
h1 { font-size: var(--t5); line-height: 1.25; font-weight: 650; letter-spacing: -.012em }
h2, h3 { font-size: var(--t4); line-height: 1.35; font-weight: 620 }
h3 { font-size: var(--t3) }
ul, ol { list-style: none }
fieldset { border: 0; min-width: 0 }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: .18em }
a:hover { color: var(--accent-strong); text-decoration-thickness: 2px }
a.small, .row.small a { display: inline-block; padding: .15rem 0 }
strong, b { font-weight: 620 }
code, kbd, pre, .mono { font-family: var(--mono); font-size: .92em }
svg { display: block; max-width: 100% }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: var(--r1) }
[hidden] { display: none !important }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.skip { position: absolute; left: var(--s2); top: var(--s2); z-index: 9; padding: var(--s2) var(--s4); background: var(--surface) }
.skip:not(:focus) { left: -99rem }
.soft, .sub, .help { color: var(--soft) }
.small, .sub, .help, .error { font-size: var(--t2) }
.sub { display: block; font-weight: 400 }
.num { text-align: right; font-variant-numeric: tabular-nums }
.num, .nowrap { white-space: nowrap }
.end { margin-left: auto }
.cut { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; min-width: 0 }
.cut .unseen { left: 0 }
.wrap { overflow-wrap: anywhere }
pre.wrap { white-space: pre-wrap }
.fit { min-width: 0 }
.i { width: 1rem; max-width: none; height: 1rem; flex: none; fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round }

/* Space */
.stack, .page, .cols, .detail, .field, .split { display: grid; grid-template-columns: var(--fr); align-content: start }
.stack, .detail { gap: var(--s4) }
.stack.tight { gap: var(--s2) }
.stack.wide, .page, .cols { gap: var(--s5) }
.cols { align-items: start }
.row, .head, .filter, .pages, .decide, .pills, .crumbs, .card > header { display: flex; flex-wrap: wrap; align-items: center; gap: var(--s2) var(--s3) }
.brand, .who, .or, :is(.areas, .tabs) a { display: flex; align-items: center; gap: .5rem }
.row.keep { flex-wrap: nowrap; min-width: 0 }
.row.top-edge, .head { align-items: flex-start }

/* Top bar and navigation. On narrow screens the side is a strip of links. */
.top { position: sticky; top: 0; z-index: 5; display: flex; align-items: center; gap: var(--s2); height: var(--top); padding: 0 var(--s4); background: var(--surface); border-bottom: var(--hair) }
.brand { font-weight: 680; font-size: var(--t4); color: var(--text); text-decoration: none }
.brand svg { width: 1.5rem; color: var(--accent) }
.areas { display: flex; align-self: stretch }
:is(.areas, .tabs) a { color: var(--soft); font-weight: 550; text-decoration: none; white-space: nowrap }
:is(.areas, .tabs) a:hover { color: var(--text) }
:is(.areas, .tabs) a:focus-visible { outline-offset: -2px }
.areas a { padding: 0 .45rem; font-size: var(--t2); border-block: 2px solid transparent }
:is(.areas, .tabs) [aria-current] { color: var(--text); border-bottom-color: var(--accent) }
.count { min-width: 1.25rem; padding: 0 .35rem; border-radius: 1rem; background: var(--sunken); color: var(--soft); font-size: var(--t1); font-weight: 620; line-height: 1.25rem; text-align: center }
.count.hot { color: var(--on-accent); background: var(--accent) }
.find { display: none; position: relative; width: 17rem; margin-left: auto }
.find input { padding: .3rem 2.2rem; background: var(--sunken); border-color: transparent }
.find > :is(.i, kbd) { position: absolute; top: calc(50% - .6rem); color: var(--soft); pointer-events: none }
.find > .i { left: .6rem }
.find > kbd { right: .5rem }
kbd { display: inline-block; min-width: 1.3rem; padding: 0 .3rem; border: var(--hair); border-bottom-width: 2px; border-radius: var(--r1); background: var(--surface); color: var(--soft); font-size: .6875rem; line-height: 1.15rem; text-align: center }
[data-keys=off] :is(.find kbd, .btn kbd, .list kbd) { display: none }
.menu { position: relative; margin-left: auto }
.menu > summary { cursor: pointer; list-style: none }
.menu > div { position: absolute; right: 0; top: calc(100% + .4rem); z-index: 6; width: 16rem; padding: var(--s2) }
.menu > div, dialog { background: var(--raised); color: inherit; border: var(--hair); border-radius: var(--r3); box-shadow: var(--float) }
.menu p, .menu div :is(a, button) { display: block; width: 100%; padding: .4rem .6rem; border: 0; border-radius: var(--r2); background: none; color: var(--text); font: inherit; text-align: left; text-decoration: none; cursor: pointer }
.menu div :is(a, button):hover { background: var(--sunken) }
.tabs { display: flex; overflow-x: auto; scrollbar-width: none; border-bottom: var(--hair) }
.tabs { gap: var(--s4) }
.tabs a { padding: var(--s2) 0; margin-bottom: -1px; border-bottom: 2px solid transparent }
.page { padding: var(--s4) var(--s4) var(--s7); max-width: 84rem; width: 100%; margin: 0 auto }
.page.portal { max-width: 66rem; font-size: .9375rem }
.head { gap: var(--s3) var(--s4) }
.head > div:first-child { flex: 1 1 18rem; min-width: 0 }
.head p { color: var(--soft); max-width: 46rem; margin-top: .15rem }
.crumbs { gap: .15rem .4rem; font-size: var(--t2); margin-bottom: var(--s1) }
.crumbs li { min-width: 0; overflow-wrap: anywhere }
.crumbs li + li::before { content: '/' / ''; color: var(--soft); margin-right: .4rem }
`
