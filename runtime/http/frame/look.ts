/**
 * Appearance and keyboard behaviour of pages in one browser. A cookie keeps the choice, so that it also
 * applies before sign-in.
 */
import { isKeyOf } from '../../contract/schema/keys.ts'

/** THEMES: choice -> colour scheme; `system` follows the setting of the device. */
export const THEMES = { system: null, light: 'light', dark: 'dark' } as const
type Theme = keyof typeof THEMES

export type BrowserLook = {
  theme: Theme
  /** Whether single keys move the focus. People who use speech input turn this off (WCAG 2.1.4). */
  keys: boolean
}

export const USUAL_LOOK: BrowserLook = { theme: 'system', keys: true }

/** Formats the text of a cookie. */
export const textOfLook = ({ theme, keys }: BrowserLook): string =>
  `${theme}.${keys ? 'keys' : 'none'}`

/** Parses the text of a cookie. Returns the default for an invalid one. */
export function lookOf(text: string | undefined): BrowserLook {
  const [theme = '', keys, ...more] = (text ?? '').split('.')
  if (!isKeyOf(THEMES, theme) || more.length > 0) return USUAL_LOOK
  return { theme, keys: keys !== 'none' }
}
