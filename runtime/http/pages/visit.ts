/** One visit to a page: the signed-in person, and what the page needs of them. */
import type { Context } from 'hono'
import { queryOf } from '../../contract/endpoints/table.ts'
import { getCurrentUser } from '../../core/directory/users.ts'
import type { RequestContext } from '../../core/kernel/context/context.ts'
import type { Principal } from '../../core/kernel/identity/principal.ts'
import { getPersonalSettings } from '../../core/mail/settings.ts'
import { listTasks } from '../../core/tasks/tasks.ts'
import type { Db } from '../../database/database.ts'
import type { CoreDeps } from '../core/routes.ts'
import type { Env } from '../edge/env.ts'
import { keepFlash, takeFlash } from '../frame/cookies.ts'
import { proofOf } from '../frame/form.ts'
import type { Markup, Visitor } from '../frame/layout.ts'
import { localeFor, type PageLocale } from '../frame/locale.ts'
import { placesOf } from '../frame/side.ts'
import { contextOf, type SignedIn, signedInPrincipal } from '../frame/signed-in.ts'
import { nameOf } from '../frame/words.ts'
import { FLASHES, type Flash } from './flashes.ts'
import { note } from './parts.ts'

/** The last action: its message, and the id of its object. */
type Said = { words: string; about: string | null }

export type Visit = {
  c: Context<Env>
  db: Db
  principal: Principal
  context: RequestContext
  /** Current time by the database's clock. */
  now: Date
  /** Language and formats: those of the person's choice, otherwise the browser's. */
  t: PageLocale
  visitor(): Promise<Visitor>
  /** Proof for the forms of the session. */
  proof: string
  /** Renders the message of the last action, once. */
  flash(): Markup | null
  /** Returns the same without rendering it. */
  said(): Said | null
  /** Redirects to a page that shows the message of this action. `about` is the id of its object. */
  done(what: string, to: string, about?: string): Response
}

/**
 * Creates a visit.
 *
 * @param flashes Messages of the actions in this part of the pages, by name.
 */
export async function visitOf(
  c: Context<Env>,
  deps: CoreDeps,
  who: SignedIn,
  flashes: Readonly<Record<string, Flash>> = FLASHES,
): Promise<Visit> {
  const { hasher } = deps
  const principal = signedInPrincipal(who)
  const proof = proofOf(hasher, who.secret)
  /** Only messages of this session are shown, because the cookie may come from elsewhere. */
  const sealed = (what: string, about?: string): string => {
    const all = about === undefined ? what : `${what}.${about}`
    return `${all}.${proofOf(hasher, `${who.secret} ${all}`)}`
  }
  const { language } = await getPersonalSettings(who.db, principal)
  if (language !== null) c.set('language', language)
  const t = localeFor(c)
  c.set('language', t.language)
  function said(): Said | null {
    const text = takeFlash(c)
    const [what = '', about] = text?.split('.').slice(0, -1) ?? []
    const words = Object.hasOwn(flashes, what) ? flashes[what] : undefined
    if (words === undefined || text !== sealed(what, about)) return null
    return { words: words[t.language], about: about ?? null }
  }
  return {
    c,
    db: who.db,
    principal,
    context: contextOf(c, deps),
    now: await deps.parts.now(who.db),
    ...{ t, proof },
    async visitor() {
      const user = await getCurrentUser(who.db, principal)
      const { total } = await listTasks(who.db, principal, {
        ...OPEN_TASKS_QUERY,
        page: 1,
        size: 1,
      })
      const { email } = user
      const { roles } = principal
      const places = placesOf(principal)
      return { name: nameOf(user), email, roles, proof, waiting: total, t, places }
    },
    flash() {
      const done = said()
      return done && note('good', 'check', done.words, '', 'status')
    },
    said,
    done(what, to, about) {
      keepFlash(c, sealed(what, about))
      return c.redirect(to, 303)
    },
  }
}

/** Query for the open tasks of a person, oldest first. */
export const OPEN_TASKS_QUERY = queryOf('list_tasks', {
  ...{ open: true, sort_direction: 'asc' },
})
