/** The console: one loop over the tables of its pages and of its changes. */
import { type Context, Hono } from 'hono'
import { CoreError, forbidden } from '../../contract/errors/problem.ts'
import type { Permission } from '../../contract/models/roles.ts'
import { entriesOf, mapValues } from '../../contract/schema/keys.ts'
import { requirePermission, requireUnchanged } from '../../core/kernel/identity/principal.ts'
import { LANGUAGES } from '../../words/languages.ts'
import type { Env } from '../edge/env.ts'
import { whileAllowed } from '../edge/while-allowed.ts'
import { createErrorPage } from '../frame/error-page.ts'
import { localeOf } from '../frame/locale.ts'
import { pageAbove } from '../frame/page-above.ts'
import { createAsPage, inTime } from '../frame/page-deadline.ts'
import { type Place, placesOf } from '../frame/side.ts'
import { createVisits, type SignedIn, stillSignedIn } from '../frame/signed-in.ts'
import type { Flash } from '../pages/flashes.ts'
import { errorPage, whenProven } from '../pages/lost-page.ts'
import { toSignIn } from '../pages/to-sign-in.ts'
import { visitOf } from '../pages/visit.ts'
import { askChange, doChange } from './change.ts'
import { findingsShown, findingsState } from './findings.ts'
import { type Files, readMultipart } from './multipart.ts'
import {
  CHANGES,
  CONSOLE_FORMS,
  CONSOLE_PAGES,
  CONSOLE_UPLOADS,
  type ConsoleForm,
  type ConsolePage,
} from './table.ts'
import { type ConsoleDeps, type ConsoleVisit, consoleVisit } from './visit.ts'

const FLASHES: Readonly<Record<string, Flash>> = Object.fromEntries(
  Object.entries({ ...CHANGES, ...CONSOLE_FORMS, ...CONSOLE_UPLOADS }).map(([name, { done }]) => [
    name,
    typeof done === 'function'
      ? mapValues(LANGUAGES, (_, language) => done(localeOf(language)))
      : done,
  ]),
)

/** STREAMS: list -> path of the stream that pages follow. */
const STREAMS = { list_syncs: '/console/syncs/events', list_jobs: '/console/jobs/events' } as const

const PAGES: readonly ConsolePage[] = Object.values(CONSOLE_PAGES)

export function consoleRoutes(deps: ConsoleDeps): Hono<Env> {
  const routes = new Hono<Env>()
  const { signedIn, received } = createVisits(deps)

  routes.onError(createErrorPage(deps.log, errorPage))

  const asPage = createAsPage(deps.parts.pace)

  /** Creates a visit. @throws CoreError `forbidden` if no role of the person opens the place */
  async function visiting(
    c: Context<Env>,
    who: SignedIn,
    place: Place | null,
  ): Promise<ConsoleVisit> {
    const visit = consoleVisit(await visitOf(c, deps, who, FLASHES), deps)
    if (place !== null && !placesOf(visit.principal).includes(place))
      throw forbidden('None of your roles opens this page')
    return visit
  }

  /** Returns the answer. A file ends when the session or the person's rights do. */
  function ending(reply: Response, who: SignedIn): Response {
    if (reply.body === null || !reply.headers.has('content-disposition')) return reply
    const still = async () => {
      const { session } = await stillSignedIn(deps, who)
      requireUnchanged(who.session.actor, session.actor)
    }
    return new Response(whileAllowed(reply.body, still), reply)
  }

  /**
   * Creates a visit that may change something.
   *
   * @throws CoreError `forbidden`, also for a read-only session
   */
  async function changing(
    c: Context<Env>,
    who: SignedIn,
    change: { place: Place | null; who: Permission | null },
  ): Promise<ConsoleVisit> {
    const visit = await visiting(c, who, change.place)
    if (who.session.actor.readOnly) throw forbidden('You signed in with a read-only token')
    if (change.who !== null) requirePermission(visit.principal, change.who)
    return visit
  }

  // Before the pages: `new` is not an id.
  for (const [name, change] of Object.entries(CHANGES)) {
    routes.get(
      change.path,
      asPage(async (c) => {
        const who = await signedIn(c)
        if (!who) return toSignIn(c)
        return askChange(await changing(c, who, change), change)
        // A preview may try the change with another system, so it has the time limit of `work`.
      }, 'work'),
    )
    routes.post(
      change.path,
      asPage((c) =>
        whenProven(c, received(c), async (who, form) =>
          doChange(await changing(c, who, change), name, change, form),
        ),
      ),
    )
  }

  for (const { path, place, who: needed, kind, show } of PAGES)
    routes.get(
      path,
      asPage(async (c) => {
        const who = await signedIn(c)
        if (!who) return toSignIn(c)
        const visit =
          needed === undefined
            ? await visiting(c, who, place)
            : await changing(c, who, { place, who: needed })
        return ending(await show(visit), who)
      }, kind),
    )

  for (const row of Object.values<ConsoleForm>(CONSOLE_FORMS))
    routes.post(
      row.path,
      asPage((c) =>
        whenProven(c, received(c), async (who, form) =>
          row.take(await changing(c, who, row), form),
        ),
      ),
    )

  for (const row of Object.values(CONSOLE_UPLOADS))
    routes.post(
      row.path,
      asPage(async (c) => {
        let visit: ConsoleVisit | null = null
        let files: Files = new Map()
        const sent = received(c, async (_c, sender) => {
          if (sender === null) return new Map()
          visit = await changing(c, sender, row)
          const read = await readMultipart(c, deps.dataDir, row.maxFileBytes)
          files = read.files
          return read.form
        })
        return whenProven(c, sent, async (who, form) => {
          const judged = visit ?? (await changing(c, who, row))
          return inTime(c, deps.parts.pace, 'work', row.take(judged, form, files))
        })
      }, 'upload'),
    )

  for (const [name, path] of entriesOf(STREAMS))
    routes.get(path, async (c) => {
      const who = await signedIn(c)
      if (!who) throw new CoreError('unauthenticated', 'You are not signed in')
      const { known: _known, findings, ...query } = c.req.query()
      const { app_id: id } = query
      return deps.following.follow(c, who.session.actor.userId, async () => {
        const visit = await visitOf(c, deps, await stillSignedIn(deps, who))
        const own = consoleVisit(visit, deps)
        const list = await own.ask(name, { query })
        // Findings are computed after a sync, so a page that shows both follows both.
        return findings === undefined || id === undefined
          ? list
          : { ...list, findings: findingsState(await findingsShown(own, { of: 'app_id', id })) }
      })
    })

  const posted = new Set(
    [CHANGES, CONSOLE_FORMS, CONSOLE_UPLOADS].flatMap((all) =>
      Object.values<{ path: string }>(all).map(({ path }) => path),
    ),
  )
  const shown = [...PAGES, ...Object.values(CHANGES)].map(({ path }) => path)
  for (const path of posted)
    if (!shown.includes(path))
      routes.get(
        path,
        asPage(async (c) => c.redirect(pageAbove(path, shown, c.req.path), 303)),
      )

  for (const path of [...PAGES.map((one) => one.path), ...posted])
    routes.all(
      path,
      asPage(async (c) => {
        const allow = posted.has(path) ? 'GET, POST' : 'GET'
        c.header('allow', allow)
        throw new CoreError('method_not_allowed', `${c.req.method} is not served here`)
      }),
    )
  routes.all(
    '/console/*',
    asPage(async () => {
      throw new CoreError('not_found', 'There is no such page')
    }),
  )
  return routes
}
