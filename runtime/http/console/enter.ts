/** The Enter key in a form that contains a search. */
import { html } from 'hono/html'
import type { Form } from '../frame/form.ts'
import type { Markup } from '../frame/layout.ts'

/** Value of the button that Enter activates. It is not visible. */
const ENTER = 'enter'

/**
 * Renders the invisible button that Enter activates. It must come first in its form.
 *
 * @param find The search text of this page.
 */
export const enterButton = (words: string, find: string | null): Markup =>
  html`<button class="unseen" name="do" value="${ENTER}" tabindex="-1" aria-hidden="true">${words}</button><input type="hidden" name="looked" value="${find ?? ''}">`

/**
 * Returns the action of a form. Enter searches if the search text has changed, and otherwise performs the
 * usual action.
 */
export function actionIn(form: Form, usual: string): string {
  const action = form.get('do') ?? ''
  if (action !== ENTER) return action
  return (form.get('find') ?? '').trim() === (form.get('looked') ?? '') ? usual : 'find'
}
