/** Address of a person's page, and the link to it for visitors who may read people. */
import { html } from 'hono/html'
import type { Principal } from '../../core/kernel/identity/principal.ts'
import type { Markup } from '../frame/layout.ts'
import { SIDE } from '../frame/side.ts'
import { whole } from '../pages/parts.ts'

export const personPath = (id: string): string => `${SIDE.people.path}/${encodeURIComponent(id)}`

/**
 * Renders a text with a link to the person's page. There is no link for a visitor who may not open it, such
 * as an app admin.
 */
export const personLink = (
  { permissions }: Pick<Principal, 'permissions'>,
  id: string,
  words: string,
): Markup | string =>
  permissions.has(SIDE.people.who)
    ? html`<a class="go" href="${personPath(id)}">${whole(words)}</a>`
    : whole(words)
