/** Cards, buttons, forms, badges, tables. */
export const COMPONENTS_STYLE = `
/* Cards, tiles, figures */
.card { background: var(--surface); border: var(--hair); border-radius: var(--r3); box-shadow: var(--lift); min-width: 0 }
.card > header { padding: .7rem var(--s4); border-bottom: var(--hair) }
.card > header > p, .card > footer, .pages { color: var(--soft); font-size: var(--t2) }
.card > footer, .pages { padding: .6rem var(--s4); border-top: var(--hair) }
.in { padding: var(--s4) }
.tiles { display: grid; gap: var(--s3); grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)) }
.tile { position: relative; display: flex; flex-direction: column; gap: var(--s3); padding: var(--s4) }
.tile h3 a, .go { color: var(--text); font-weight: 580; text-decoration: none }
.go:hover { text-decoration: underline }
.tile h3 a::after, .over::after { content: ''; position: absolute; inset: 0; border-radius: inherit }

/* Buttons */
.btn { display: inline-flex; align-items: center; justify-content: center; gap: .45rem; min-height: var(--control); padding: 0 .8rem; border: 1px solid var(--rim); border-radius: var(--r2); background: var(--surface); color: var(--text); font: 560 var(--t3)/1.2 var(--sans); text-decoration: none; white-space: nowrap; cursor: pointer }
.btn:hover { background: var(--sunken); color: var(--text) }
.btn.main { border-color: var(--accent); background: var(--accent); color: var(--on-accent) }
.btn.main:hover { background: var(--accent-strong) }
.btn.danger { color: var(--bad); border-color: currentColor }
.btn.danger:hover { background: var(--bad-tint) }
.btn.plain { border-color: transparent; background: none; color: var(--accent) }
.btn.plain:hover { background: var(--accent-tint) }
.btn.less { min-height: 1.75rem; padding: 0 .55rem; font-size: var(--t2) }
.btn[aria-busy=true]::before { content: ''; width: .8rem; height: .8rem; border: 2px solid; border-right-color: transparent; border-radius: 50%; animation: turn 1s linear infinite }
.btn kbd { background: none; border-color: currentColor; color: inherit }

/* Forms */
input, select, textarea { width: 100%; min-height: var(--control); padding: .3rem .6rem; border: 1px solid var(--edge); border-radius: var(--r2); background: var(--surface); color: var(--text); font: inherit }
textarea { min-height: 4.5rem; resize: vertical; display: block }
input:is([type=checkbox], [type=radio]) { width: 1.05rem; height: 1.05rem; min-height: 0; margin: 0; flex: none; accent-color: var(--accent) }
::placeholder { color: var(--soft); opacity: 1 }
.field { gap: .3rem }
.field > :is(label:not(.choice), legend) { font-weight: 600; padding: 0 }
.field legend { margin-bottom: .4rem }
.error { display: flex; gap: .35rem; font-weight: 560; color: var(--bad) }
.error .i { margin-top: .15rem }
[aria-invalid=true] { border-color: var(--bad); box-shadow: 0 0 0 1px var(--bad) }
.choice { display: flex; gap: .6rem; align-items: flex-start; padding: .6rem .75rem; border: 1px solid var(--rim); border-radius: var(--r2); cursor: pointer }
.choice input { margin-top: .15rem }
.choice > span:not(.badge) { flex: 1; min-width: 0; overflow-wrap: anywhere }
.choice:has(:checked) { border-color: var(--accent); background: var(--accent-tint) }
:is(input, select, textarea, .btn, .choice):is(:disabled, [aria-disabled=true], :has(:disabled)) { border-color: var(--line); background: var(--sunken); color: var(--soft); cursor: not-allowed }
.pills .choice { padding: .35rem .7rem }
.filter { gap: var(--s2); align-items: flex-end }
.filter > * { flex: 1 1 8.5rem; max-width: 13rem }
.filter > .grow { flex: 2 1 14rem; max-width: 26rem }
.filter > .btn { flex: none }
.filter label { display: block; margin-bottom: .2rem; font-size: var(--t1); font-weight: 560; color: var(--soft) }

/* Badge (a state: icon and word), dot, avatar */
.badge, .dot, .avatar, .note { --k: var(--soft); --kt: var(--sunken); --km: var(--edge) }
.badge, .dot, .avatar { background: var(--kt); color: var(--k) }
.badge { display: inline-flex; align-items: center; gap: .3rem; padding: 0 .45rem 0 .35rem; border-radius: var(--r1); font-size: var(--t1); font-weight: 580; line-height: 1.375rem; white-space: nowrap }
.badge .i, .dot .i { width: .8rem; height: .8rem; stroke-width: 2.1 }
.dot, .avatar { display: grid; place-items: center; flex: none; width: 1.5rem; height: 1.5rem; border-radius: 50% }
.dot.next { background: none; border: 2px dashed var(--edge) }
.avatar { width: 1.75rem; height: 1.75rem; font-size: .6875rem; font-weight: 640 }
.avatar.app { border-radius: var(--r2) }
.avatar.app { --k: var(--accent-strong); --kt: var(--accent-tint) }
.avatar.big { width: 2.5rem; height: 2.5rem; font-size: var(--t3) }
.who, .who > span:last-child { min-width: 0 }

/* Data table. Columns of class c2 are hidden below 75rem, those of class c3 below 48rem. */
.scroll { overflow-x: auto; position: relative; border-radius: inherit }
table { width: 100%; border-collapse: collapse; font-size: var(--t2) }
th, td { padding: .45rem var(--s2); text-align: left; border-bottom: var(--hair) }
:is(th, td):first-child { padding-left: var(--s4) }
:is(th, td):last-child { padding-right: var(--s4) }
:is(th, td).num { text-align: right }
thead [aria-sort] a { color: var(--text) }
thead [aria-sort] a::after { content: ' ↓' / '' }
thead [aria-sort=ascending] a::after { content: ' ↑' / '' }
thead th { padding-block: .4rem; font-size: var(--t1); font-weight: 580; color: var(--soft); white-space: nowrap; background: var(--surface) }
tbody th { font-weight: 560 }
td > time { white-space: nowrap }
/* A column of short names, which a long neighbour would otherwise break within a word. */
.word { min-width: 5.5rem }
tbody tr:last-child > * { border-bottom: 0 }
:is(tbody tr:hover, tr.open) > * { background: var(--sunken) }
.c3 { display: none }
.pages nav { display: flex; gap: var(--s1); margin-left: auto }
.row > input { width: auto }
`
