/** Theme of the documentation pages: colours for light and dark, type, focus. */
export const THEME = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#ffffff, #14171c);
  --panel: light-dark(#f6f7f9, #1b1f26);
  --line: light-dark(#dfe3e8, #2d333d);
  --text: light-dark(#1c2430, #e3e7ed);
  --soft: light-dark(#5a6675, #9aa6b5);
  --accent: light-dark(#0b5cad, #7db8f5);
  --good: light-dark(#1a6b3c, #6fce98);
  --caution: light-dark(#9a4a06, #f0a860);
}
* { box-sizing: border-box }
html { scroll-padding-top: 1rem }
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth } }
body {
  margin: 0; background: var(--ground); color: var(--text);
  font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
}
a { color: var(--accent); text-underline-offset: .15em }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px }
code, pre { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: .86em }
.skip { position: absolute; left: -999rem }
.skip:focus { left: 1rem; top: 1rem; background: var(--ground); padding: .5rem 1rem; z-index: 2 }
`
