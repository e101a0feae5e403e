/** The pages for people: one loop over the tables of pages and forms. */

import { type Context, Hono } from 'hono'
import { CoreError, forbidden } from '../../contract/errors/problem.ts'
import { entriesOf } from '../../contract/schema/keys.ts'
import { endSession, endSessionsOf } from '../../core/sign-in/sessions.ts'
import { listTasks } from '../../core/tasks/tasks.ts'
import type { CoreDeps } from '../core/routes.ts'
import { takesHtml } from '../edge/accepts-html.ts'
import type { Env } from '../edge/env.ts'
import type { Following } from '../edge/followed-lists.ts'
import { dropSession } from '../frame/cookies.ts'
import { createErrorPage } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { AREAS, PAGE_HEADERS } from '../frame/layout.ts'
import { pageAbove } from '../frame/page-above.ts'
import { createAsPage } from '../frame/page-deadline.ts'
import { createVisits, stillSignedIn } from '../frame/signed-in.ts'
import { showAccess } from './access.ts'
import { showBreakGlass, takeForm } from './break-glass.ts'
import { nameDelegate, showDelegates, withdrawDelegate } from './delegates.ts'
import { act, comment, reassign, showInbox, showTask } from './inbox.ts'
import { INBOX_EVENTS, INBOX_PACE, inboxState } from './inbox-live.ts'
import { errorPage, whenProven } from './lost-page.ts'
import { downloadMyData, showMyData } from './my-data.ts'
import { showOneRequest } from './one-request.ts'
import { savePersonal, showPersonal } from './personal.ts'
import { giveBackForm, remind, sendRequest, showAsk, withdraw } from './requests.ts'
import { signedOutPage, signInBy } from './sign-in.ts'
import { FORMS, PAGES, WHOLE } from './table.ts'
import { toSignIn } from './to-sign-in.ts'
import { OPEN_TASKS_QUERY, type Visit, visitOf } from './visit.ts'

type Show = (visit: Visit) => Promise<Response>
type Take = (visit: Visit, form: Form) => Promise<Response>

const SHOWS: Record<
  Exclude<keyof typeof PAGES, 'start' | 'sign_in' | 'begin' | 'callback'>,
  Show
> = {
  access: showAccess,
  ask: showAsk,
  break_glass: showBreakGlass,
  one_request: showOneRequest,
  inbox: showInbox,
  task: showTask,
  my_data: showMyData,
  personal: showPersonal,
  delegates: (visit) => showDelegates(visit),
}

const TAKES: Record<Exclude<keyof typeof FORMS, 'sign_out' | 'sign_out_everywhere'>, Take> = {
  send_request: sendRequest,
  take_break_glass: takeForm,
  withdraw,
  give_back: giveBackForm,
  remind,
  act,
  comment,
  reassign,
  save_personal: savePersonal,
  show_my_data: showMyData,
  download_my_data: downloadMyData,
  name_delegate: nameDelegate,
  withdraw_delegate: withdrawDelegate,
}

export function pageRoutes(deps: CoreDeps & { following: Following }): Hono<Env> {
  const routes = new Hono<Env>()
  const { signedIn, received, sent } = createVisits(deps)

  routes.onError(createErrorPage(deps.log, errorPage))

  const asPage = createAsPage(deps.parts.pace)

  // Programs get no page here, as in earlier versions.
  routes.get(PAGES.start.path, async (c, next) => {
    c.header('vary', 'accept')
    if (!takesHtml(c.req.header('accept'))) return next()
    return asPage(start)(c)
  })

  async function start(c: Context<Env>): Promise<Response> {
    const who = await signedIn(c)
    if (!who) return toSignIn(c)
    const { db, principal } = await visitOf(c, deps, who)
    if (principal.permissions.has('operator')) return c.redirect(AREAS.console.path, 303)
    const { total } = await listTasks(db, principal, { ...OPEN_TASKS_QUERY, page: 1, size: 1 })
    return c.redirect(total > 0 ? PAGES.inbox.path : PAGES.access.path, 303)
  }

  routes.get(
    PAGES.sign_in.path,
    asPage(async (c) => ((await signedIn(c)) ? c.redirect('/', 303) : toSignIn(c))),
  )

  const { begin, callback } = signInBy(deps)
  routes.get(PAGES.begin.path, asPage(begin))
  routes.get(PAGES.callback.path, asPage(callback, 'work'))

  // Before the tasks: `events` is not an id.
  routes.get(INBOX_EVENTS, async (c) => {
    const who = await signedIn(c)
    if (!who) throw new CoreError('unauthenticated', 'You are not signed in')
    const look = async () => inboxState(await visitOf(c, deps, await stillSignedIn(deps, who)))
    return deps.following.follow(c, who.session.actor.userId, look, INBOX_PACE)
  })

  for (const [name, show] of entriesOf(SHOWS))
    routes.get(
      PAGES[name].path,
      asPage(async (c) => {
        const who = await signedIn(c)
        return who ? show(await visitOf(c, deps, who)) : toSignIn(c)
      }),
    )

  for (const [name, take] of entriesOf(TAKES))
    routes.post(
      FORMS[name].path,
      asPage((c) =>
        whenProven(c, received(c), async (who, form) => {
          if (who.session.actor.readOnly) throw forbidden('You signed in with a read-only token')
          return take(await visitOf(c, deps, who), form)
        }),
      ),
    )

  routes.post(
    FORMS.sign_out.path,
    asPage(async (c) => {
      const who = await sent(c)
      if (!who) return toSignIn(c)
      await endSession(who.db, deps.hasher, who.secret)
      dropSession(c)
      const signedOut = await signedOutPage(c, deps, who.session.provider)
      return signedOut ? c.html(signedOut) : toSignIn(c)
    }),
  )
  routes.post(
    FORMS.sign_out_everywhere.path,
    asPage(async (c) => {
      const who = await sent(c)
      if (who) await endSessionsOf(who.db, who.session.actor)
      return toSignIn(c)
    }),
  )

  const pages = Object.values(PAGES).map(({ path }) => path)
  for (const { path } of Object.values(FORMS))
    if (!pages.some((page) => page === path))
      routes.get(
        path,
        asPage(async (c) => c.redirect(pageAbove(path, pages, c.req.path), 303)),
      )

  for (const [path, allow] of methodsByPath())
    routes.all(
      path,
      asPage(async (c) => {
        c.header('allow', allow)
        throw new CoreError('method_not_allowed', `${c.req.method} is not served here`)
      }),
    )
  for (const path of WHOLE) routes.all(path, (c) => nothingThere(deps.log, c))
  return routes
}

/** Answers with the page for an unknown address. */
export function nothingThere(log: CoreDeps['log'], c: Context<Env>): Promise<Response> {
  for (const [name, value] of Object.entries(PAGE_HEADERS)) c.header(name, value)
  return createErrorPage(log, errorPage)(new CoreError('not_found', 'There is no such page'), c)
}

/** Returns the methods of each path except `/`, which programs also request. */
function methodsByPath(): Map<string, string> {
  const rows = [
    ...Object.values(PAGES).map(({ path }) => [path, 'GET'] as const),
    // GET of a form's address redirects to the page above it.
    ...Object.values(FORMS).map(({ path }) => [path, 'GET, POST'] as const),
  ]
  const methods = new Map<string, string>()
  for (const [path, method] of rows) if (path !== PAGES.start.path) methods.set(path, method)
  return methods
}
