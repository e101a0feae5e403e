/** How pages look and act in one browser, as its person chose: a cookie keeps it, so that it holds before a sign-in too. */
import { isKeyOf } from '../../contract/schema/keys.ts'

/** THEMES: whose colours a page takes; `system` is whatever the device is set to. */
export const THEMES = { system: null, light: 'light', dark: 'dark' } as const
type Theme = keyof typeof THEMES

export type BrowserLook = {
  theme: Theme
  /** Whether single keys move the focus. Who speaks to their computer turns them off (WCAG 2.1.4). */
  keys: boolean
}

export const USUAL_LOOK: BrowserLook = { theme: 'system', keys: true }

/** The text of a cookie. */
export const textOfLook = ({ theme, keys }: BrowserLook): string =>
  `${theme}.${keys ? 'keys' : 'none'}`

/** What a cookie says; the usual for anything odd. */
export function lookOf(text: string | undefined): BrowserLook {
  const [theme = '', keys, ...more] = (text ?? '').split('.')
  if (!isKeyOf(THEMES, theme) || more.length > 0) return USUAL_LOOK
  return { theme, keys: keys !== 'none' }
}
