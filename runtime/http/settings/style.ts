import { THEME } from '../edge/theme.ts'

/** The style sheet of the settings pages; served, so that a strict policy allows it. */
export const SETTINGS_STYLE = `${THEME}
:root {
  --bad: light-dark(#a4161a, #ff9a94);
  --edge: light-dark(#76818f, #7b8796);
  --on-accent: light-dark(#ffffff, #0e1a28);
}
:is(button, input, textarea, .scroll, .box):focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
header { display: flex; flex-wrap: wrap; gap: .4rem 1.5rem; align-items: center; padding: .8rem clamp(1rem, 4vw, 2.5rem); background: var(--panel); border-bottom: 1px solid var(--line) }
header p { margin: 0 }
.brand { font-size: 1.15rem; font-weight: 650 }
header nav a { display: inline-block; padding: .2rem 0; color: var(--text); text-decoration: none; border-bottom: 2px solid var(--accent) }
.who { margin-left: auto; font-size: .92rem; color: var(--soft); overflow-wrap: anywhere }
.who strong { color: var(--text); font-weight: 600 }
main { max-width: 72rem; margin: 0 auto; padding: 2.2rem clamp(1rem, 4vw, 2.5rem) 5rem }
h1 { margin: 0; font-size: 1.9rem; line-height: 1.2 }
h2, caption { margin: 0 0 .6rem; font-size: 1.2rem; font-weight: 650; text-align: left }
.lead { color: var(--soft); margin: .5rem 0 1.8rem; max-width: 46rem }
section { margin: 0 0 2.4rem }
.box { border: 1px solid var(--line); border-left: 4px solid var(--edge); border-radius: 8px; background: var(--panel); padding: .9rem 1.2rem; margin: 0 0 1.8rem; max-width: 46rem }
.box h2 { font-size: 1.05rem; margin: 0 0 .3rem }
.box p { margin: .2rem 0 }
.box ul { margin: .3rem 0; padding-left: 1.2rem }
.good { border-left-color: var(--good) }
.bad { border-left-color: var(--bad) }
.bad h2, .problem { color: var(--bad) }
.bad a { color: inherit }
.note { margin: .25rem 0 0; color: var(--soft); font-size: .88rem }
.problem { margin: 0 0 .3rem; font-size: .92rem; font-weight: 600 }
.optional { color: var(--soft); font-weight: 400; font-size: .88rem }
label { display: block; font-weight: 600; margin: 0 0 .25rem }
input:not([type=checkbox]), textarea {
  display: block; width: 100%; font: inherit; color: inherit; background: var(--ground);
  border: 1px solid var(--edge); border-radius: 6px; padding: .45rem .6rem;
}
textarea { resize: vertical; min-height: 4rem }
input[type=date] { max-width: 13rem }
[aria-invalid=true] { border-color: var(--bad) !important; border-width: 2px !important }
.code { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace !important; font-size: .92rem !important }
button {
  font: inherit; font-weight: 600; cursor: pointer; color: var(--on-accent); background: var(--accent);
  border: 1px solid var(--accent); border-radius: 6px; padding: .45rem 1rem; min-height: 2.4rem;
}
button:hover { filter: brightness(1.08) }
.quiet { color: var(--text); background: transparent; border-color: var(--edge); font-weight: 500; padding: .2rem .8rem; min-height: 2rem }
.danger { background: var(--bad); border-color: var(--bad) }
.ways { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 1.5rem }
.ways section { border: 1px solid var(--line); border-radius: 10px; padding: 1.3rem 1.5rem 1.6rem; display: flex; flex-direction: column; margin: 0 }
.ways section > p { margin: 0 0 1rem; color: var(--soft) }
.ways form { margin-top: auto }
.ways button { margin-top: 1rem }
.ways .box { padding: .4rem .8rem; margin: 0 0 .8rem; font-size: .92rem }
.create { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 1.1rem 2rem; border: 1px solid var(--line); border-radius: 10px; padding: 1.3rem 1.5rem 1.5rem }
.create button { justify-self: start; grid-column: 1 }
.tick { display: grid; grid-template-columns: auto 1fr; gap: 0 .6rem; align-items: center; align-content: start }
.tick input { width: 1.15rem; height: 1.15rem; accent-color: var(--accent) }
.tick label { margin: 0 }
.tick .note { grid-column: 2 }
.copy { display: flex; flex-wrap: wrap; gap: .6rem }
.copy input { flex: 1 1 24rem; width: auto; min-width: 0 }
/* The frame of what is only heard: else that would widen the page. */
.scroll { overflow-x: auto; position: relative }
table { border-collapse: collapse; width: 100%; min-width: 54rem; font-size: .92rem }
th, td { text-align: left; vertical-align: top; padding: .6rem 1.1rem .6rem 0; border-bottom: 1px solid var(--line) }
thead th { white-space: nowrap; font-size: .8rem; font-weight: 600; color: var(--soft) }
tbody th { font-weight: 600; min-width: 11rem; max-width: 22rem; overflow-wrap: anywhere }
time { white-space: nowrap }
.description { display: block; font-weight: 400; color: var(--soft); white-space: pre-line }
.clock { color: var(--soft); font-size: .86em }
.tag { display: inline-block; font-size: .74rem; font-weight: 600; color: var(--good); border: 1px solid currentColor; border-radius: 5px; padding: 0 .4rem }
.ended th, .ended td { color: var(--soft) }
.revoke { min-width: 8rem; max-width: 15rem }
.revoke summary { cursor: pointer; color: var(--bad); width: fit-content }
.revoke button { margin: .5rem 0 .2rem }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
[hidden] { display: none !important }
@media (max-width: 40rem) { .who { margin-left: 0 } }
@media (forced-colors: active) { button { border: 1px solid ButtonText } }
`
