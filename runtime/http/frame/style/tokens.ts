/**
 * Design tokens. Every colour is a pair, light then dark. Sizes are in rem, so that people's own font size
 * applies.
 */
export const TOKENS_STYLE = `
/* Keyway: design tokens. Every colour is a pair, light then dark; color-scheme chooses. */
:root {
  color-scheme: light dark;

  /* Neutrals, from the canvas to the text. */
  --bg: light-dark(#f6f7f8, #0f1113);
  --surface: light-dark(#ffffff, #16191c);
  --raised: light-dark(#ffffff, #1d2125);
  --sunken: light-dark(#eff1f3, #1f2328);
  --line: light-dark(#e0e3e7, #2b3036);
  --rim: light-dark(#c7ccd3, #3d454e);
  --edge: light-dark(#818993, #717b86);
  --text: light-dark(#15181c, #eceef0);
  --soft: light-dark(#525a64, #a3acb6);

  /* Accent: links, the main action, what is chosen, the focus. */
  --accent: light-dark(#2353c9, #93b4ff);
  --accent-strong: light-dark(#1b429f, #b3caff);
  --accent-tint: light-dark(#eaf0fe, #1a2540);
  --on-accent: light-dark(#ffffff, #0c1630);

  /* Meanings: text and tint. */
  --good: light-dark(#14663a, #74d39c);
  --good-tint: light-dark(#e4f5ea, #12291d);
  --wait: light-dark(#854a00, #f0b46a);
  --wait-tint: light-dark(#fdf1dd, #2e2210);
  --bad: light-dark(#b01f2e, #ff9f9b);
  --bad-tint: light-dark(#fdebeb, #371a1c);
  --rule: light-dark(#6339ab, #c5abff);
  --rule-tint: light-dark(#f2edfc, #261d3b);

  /* Marks of charts: 3:1 on the surface. */
  --mark: light-dark(#4d78de, #7ea2f5);
  --mark-good: light-dark(#2f9560, #4fb680);
  --mark-wait: light-dark(#b8730d, #d9962f);
  --mark-bad: light-dark(#d04350, #ee6f6f);
  --mark-rule: light-dark(#8a62d0, #a585e6);
  --mark-idle: light-dark(#858d97, #727c87);
  --track: light-dark(#e3e6ea, #2d3339);

  /* Type, in rem so that people's own font size applies. */
  --sans: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
  --mono: ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace;
  --t1: .75rem;     /* captions, table heads, badges */
  --t2: .8125rem;   /* second lines, dense tables */
  --t3: .875rem;    /* body of console and inbox */
  --t4: 1rem;       /* body of the portal, card titles */
  --t5: 1.25rem;    /* section and page titles on narrow screens */
  --t6: 1.5rem;     /* page titles, figures */

  /* Space: steps of 4 px. */
  --s1: .25rem;
  --s2: .5rem;
  --s3: .75rem;
  --s4: 1rem;
  --s5: 1.5rem;
  --s6: 2rem;
  --s7: 3rem;

  --r1: .25rem;     /* badges, checkboxes */
  --r2: .375rem;    /* controls */
  --r3: .625rem;    /* cards, dialogs */

  --lift: 0 1px 2px light-dark(#15181c0f, #00000040);
  --float: 0 12px 32px light-dark(#15181c2e, #000000a6), 0 2px 6px light-dark(#15181c14, #00000066);

  --control: 2.125rem;   /* height of buttons and fields: 34 px; 44 px on touch */
  --top: 3.25rem;
  --fr: minmax(0, 1fr);
  --hair: 1px solid var(--line);
}
/* A person's own choice. Without it the system decides. */
:root[data-theme='light'] { color-scheme: light }
:root[data-theme='dark'] { color-scheme: dark }
@media (pointer: coarse) { :root { --control: 2.75rem } }
@media (prefers-contrast: more) {
  :root { --line: var(--edge); --rim: var(--edge); --soft: var(--text) }
}
`
