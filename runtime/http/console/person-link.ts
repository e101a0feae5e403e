/** Where the page of a person is, and the link to it for who may read people. */
import { html } from 'hono/html'
import type { Principal } from '../../core/kernel/identity/principal.ts'
import type { Markup } from '../frame/layout.ts'
import { SIDE } from '../frame/side.ts'
import { whole } from '../pages/parts.ts'

export const personPath = (id: string): string => `${SIDE.people.path}/${encodeURIComponent(id)}`

/** A person's words, with a link to their page; without one for who may not open it, such as the admin of an app. */
export const personLink = (
  { permissions }: Pick<Principal, 'permissions'>,
  id: string,
  words: string,
): Markup | string =>
  permissions.has(SIDE.people.who)
    ? html`<a class="go" href="${personPath(id)}">${whole(words)}</a>`
    : whole(words)
