/** ICONS: name -> shapes of a 16 by 16 picture, drawn in the colour of the text next to it. */
import { html, raw } from 'hono/html'

const ICONS = {
  alert: '<path d="M8 2.3 14.4 13H1.6zM8 6.5v3M8 11.4v.1"/>',
  box: '<path d="m8 1.9 5.5 3v6.2L8 14.1l-5.5-3V4.9zM2.5 4.9 8 8l5.5-3.1M8 8v6.1"/>',
  check: '<path d="m3 8.5 3.2 3.2L13 5"/>',
  clock: '<circle cx="8" cy="8" r="6"/><path d="M8 4.7V8l2.2 1.6"/>',
  coin: '<circle cx="8" cy="8" r="6"/><path d="M10.2 5.6A3.2 3.2 0 1 0 10.2 10.4M4.8 7.2h4M4.8 8.9h4"/>',
  dials:
    '<path d="M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6"/><circle cx="10" cy="5" r="1.5"/><circle cx="6" cy="11" r="1.5"/>',
  grid: '<rect x="2.5" y="2.5" width="4.4" height="4.4" rx="1"/><rect x="9.1" y="2.5" width="4.4" height="4.4" rx="1"/><rect x="2.5" y="9.1" width="4.4" height="4.4" rx="1"/><rect x="9.1" y="9.1" width="4.4" height="4.4" rx="1"/>',
  hand: '<path d="M5 8.5V3.8a1 1 0 0 1 2 0V7m0-.3V2.9a1 1 0 0 1 2 0V7m0-.4V3.9a1 1 0 0 1 2 0V9.5c0 2.7-1.5 4.6-4 4.6-2 0-3-.9-3.9-2.7L2 9.3c-.4-.9.7-1.6 1.4-.9L5 10"/>',
  home: '<path d="M2.5 7.5 8 2.8l5.5 4.7V13a.5.5 0 0 1-.5.5H9.8V9.8H6.2v3.7H3a.5.5 0 0 1-.5-.5z"/>',
  info: '<circle cx="8" cy="8" r="6"/><path d="M8 7.4v3.4M8 5v.1"/>',
  key: '<circle cx="5.3" cy="10.7" r="2.8"/><path d="m7.3 8.7 5.7-5.7M10.5 5.5l2 2"/>',
  link: '<path d="M6.7 9.3a2.7 2.7 0 0 0 3.9 0l2.2-2.2a2.7 2.7 0 0 0-3.9-3.9l-.9.9M9.3 6.7a2.7 2.7 0 0 0-3.9 0L3.2 8.9a2.7 2.7 0 0 0 3.9 3.9l.9-.9"/>',
  list: '<path d="M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.1M2.5 8h.1M2.5 12h.1"/>',
  mail: '<rect x="2" y="3.5" width="12" height="9" rx="1.5"/><path d="m2.5 4.5 5.5 4 5.5-4"/>',
  minus: '<path d="M3.5 8h9"/>',
  plug: '<path d="M6 2v3M10 2v3M4 5h8v2.5a4 4 0 0 1-8 0zM8 11.5V14"/>',
  plus: '<path d="M8 3.5v9M3.5 8h9"/>',
  rule: '<path d="M4 2.5h8a1 1 0 0 1 1 1v10l-2.5-1.5L8 13.5 5.5 12 3 13.5v-10a1 1 0 0 1 1-1zM5.7 6h4.6M5.7 8.7h3"/>',
  search: '<circle cx="7" cy="7" r="4.3"/><path d="m10.3 10.3 3.4 3.4"/>',
  shield: '<path d="M8 1.9 13 3.7v4c0 3.1-2.1 5.3-5 6.4-2.9-1.1-5-3.3-5-6.4v-4z"/>',
  stop: '<rect x="3.5" y="3.5" width="9" height="9" rx="1.5"/>',
  sync: '<path d="M13 3v3.3H9.7M3 13V9.7h3.3M12.7 6.3A5 5 0 0 0 4 5M3.3 9.7A5 5 0 0 0 12 11"/>',
  user: '<circle cx="8" cy="5.4" r="2.7"/><path d="M2.8 13.5c.6-2.7 2.6-4 5.2-4s4.6 1.3 5.2 4"/>',
  x: '<path d="m4 4 8 8M12 4l-8 8"/>',
} as const

export type Icon = keyof typeof ICONS

/** Renders an icon. The text next to it conveys the meaning. */
export const icon = (name: Icon) =>
  html`<svg class="i" viewBox="0 0 16 16" aria-hidden="true">${raw(ICONS[name])}</svg>`

const KEYHOLE = 'M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20Zm-2 4.1h4v3.4a4 4 0 1 1-4 0Z'

/** Renders the logo of Keyway. */
export const sign = () =>
  html`<svg viewBox="0 0 24 24" aria-hidden="true"><path fill="currentColor" fill-rule="evenodd" d="${KEYHOLE}"/></svg>`

/** The logo as a file, for the tab of a browser. */
export const FAVICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="#2353c9" fill-rule="evenodd" d="${KEYHOLE}"/></svg>`
