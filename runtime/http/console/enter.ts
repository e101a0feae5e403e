/** The key Enter in a form that has a search within it. */
import { html } from 'hono/html'
import type { Form } from '../frame/form.ts'
import type { Markup } from '../frame/layout.ts'

/** What the button says that Enter presses: no page shows it. */
const ENTER = 'enter'

/**
 * The button that Enter presses, which nobody sees; it stands first in its form.
 *
 * @param find What was searched for on this page.
 */
export const enterButton = (words: string, find: string | null): Markup =>
  html`<button class="unseen" name="do" value="${ENTER}" tabindex="-1" aria-hidden="true">${words}</button><input type="hidden" name="looked" value="${find ?? ''}">`

/** What a form is to do: by Enter it searches where other words are in the search than were, and else does the usual. */
export function actionIn(form: Form, usual: string): string {
  const action = form.get('do') ?? ''
  if (action !== ENTER) return action
  return (form.get('find') ?? '').trim() === (form.get('looked') ?? '') ? usual : 'find'
}
