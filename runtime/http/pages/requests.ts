/** Requesting access, withdrawing a request, giving access back. */
import { html } from 'hono/html'
import { queryOf } from '../../contract/endpoints/table.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import { ACCESS_LENGTHS, type AccessLength } from '../../contract/models/access-length.ts'
import type { AccessRequest } from '../../contract/models/access-request.ts'
import { MAX_OUTLOOKS } from '../../contract/models/asking.ts'
import { MAX_COMMENT } from '../../contract/models/task.ts'
import { createRequestOnce } from '../../core/asking/ask-once.ts'
import { endsLater, heldNow } from '../../core/asking/extension.ts'
import { giveBackAll } from '../../core/asking/give-back.ts'
import { closedApps, closedFor } from '../../core/asking/not-requestable.ts'
import { outlookAndEnd, requestOutlooks } from '../../core/asking/outlook.ts'
import { accessInApp } from '../../core/catalogue/apps/access.ts'
import { getStoreApp } from '../../core/catalogue/store/app-store.ts'
import { listPermissions, permissionsHeld } from '../../core/catalogue/store/permissions.ts'
import { keptText } from '../../core/kernel/kept-text.ts'
import { cancelAccessRequest } from '../../core/requests/cancel.ts'
import { getAccessRequest } from '../../core/requests/read.ts'
import { remindApprovers } from '../../core/task-actions/remind.ts'
import { PageError, refusalOf } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { pageNumber } from './access.ts'
import { REFUSED } from './access-page.ts'
import {
  APP_ITSELF,
  choosePage,
  closedPage,
  extensionEnds,
  heldPage,
  MAX_WHY,
  type RequestPage,
  type RequestValues,
  requestPage,
} from './request-page.ts'
import type { Visit } from './visit.ts'

/** Choices per page: the maximum number of outlooks of one query, less one for the app itself. */
const CHOICES = MAX_OUTLOOKS - 1

/**
 * Maximum number of the visitor's accesses in an app that are read. Beyond it, some are not marked as theirs.
 */
const MAX_HELD = 200

/** Reads the requested app and its choices. */
async function subjectOf(visit: Visit, appId: string, page: number) {
  const { db, principal } = visit
  const app = await getStoreApp(db, principal, appId, [])
  const query = queryOf('list_app_permissions', {
    ...{ in_app_store: true, include_inherited_configs: false, page, size: CHOICES },
  })
  const choices = await listPermissions(db, principal, app.id, query)
  const items = choices.items.map(({ id, label }) => ({ id: String(id), label: String(label) }))
  return { app, choices: { ...choices, items } }
}

export async function showAsk(visit: Visit): Promise<Response> {
  const { c } = visit
  const { app_id: appId = '', permission, again } = c.req.query()
  const subject = await subjectOf(visit, appId, pageNumber(c.req.query('page')))
  const { app, choices } = subject
  if (permission === undefined && choices.total > 0 && !app.disconnected) {
    const instructions = app.request_instructions ?? null
    const closed = (await closedApps(visit.db, visit.principal, [app.id])).get(app.id)
    if (closed !== undefined) {
      const visitor = await visit.visitor()
      return c.html(closedPage({ t: visit.t, visitor, app, instructions, closed }))
    }
    const outlooks = await requestOutlooks(visit.db, visit.principal, {
      ...{ app_ids: [app.id], target_user_id: null },
      requestable_permission_ids: choices.items.map(({ id }) => id),
    })
    const held = await accessInApp(visit.db, visit.principal.userId, app.id, MAX_HELD)
    const mine = await permissionsHeld(visit.db, app.id, held)
    const hasAccount = held.some(({ kind }) => kind === 'account')
    const page = {
      t: visit.t,
      visitor: await visit.visitor(),
      app,
      instructions,
      choices,
      outlooks,
    }
    return c.html(choosePage({ ...page, mine, hasAccount }))
  }
  return showForm(visit, subject, permission ?? APP_ITSELF, { again })
}

/** Returns a refused request by the visitor for something in the app, by the id in the address, or null. */
async function refusedBefore(
  { db, principal }: Visit,
  appId: string,
  id: string | undefined,
): Promise<AccessRequest | null> {
  if (id === undefined) return null
  const request = await getAccessRequest(db, principal, id, []).catch((error: unknown) => {
    if (error instanceof CoreError && error.kind === 'not_found') return null
    throw error
  })
  const isOwn = request?.requester_user.id === principal.userId && request.app_id === appId
  return isOwn && REFUSED.includes(request.status) ? request : null
}

type Subject = Awaited<ReturnType<typeof subjectOf>>

type Shown = {
  values?: RequestValues
  problems?: RequestPage['problems']
  /** Id of the refused request that is repeated. */
  again?: string | undefined
}

async function showForm(
  visit: Visit,
  { app, choices }: Subject,
  wanted: string,
  { values, problems = {}, again }: Shown,
  status: 200 | 403 | 409 | 422 = 200,
): Promise<Response> {
  const { c, db, principal, t, now } = visit
  const id = wanted === APP_ITSELF ? null : wanted
  const closed = app.disconnected ? null : await closedFor(db, principal, app.id, id)
  if (closed !== null || app.disconnected) {
    const visitor = await visit.visitor()
    const instructions = app.request_instructions ?? null
    return c.html(closedPage({ t, visitor, app, instructions, closed }), status)
  }
  const query = { requestable_permission_id: id, target_user_id: null }
  const { outlook, takenByHand } = await outlookAndEnd(db, principal, app.id, query)
  const permission =
    id === null
      ? null
      : (choices.items.find((one) => one.id === id) ?? { id, label: t.w.permission })
  const held = await heldNow(db, principal, app.id, id)
  const common = {
    ...{ t, visitor: await visit.visitor(), app, permission, now },
    instructions: app.request_instructions ?? null,
  }
  const all = outlook.access_lengths
  const lengths = held === null ? all : all.filter((one) => endsLater(one, held, now))
  if (held !== null && lengths.length === 0)
    return c.html(heldPage({ ...common, held, lengths: all }), status)
  // Without a default length the person chooses. A preselected length would be requested unread.
  const [first = '', ...others] = lengths
  const byDefault = lengths.find((one) => one === outlook.default_access_length)
  const usual = byDefault ?? (others.length === 0 ? first : '')
  const refused = await refusedBefore(visit, app.id, again)
  const page: RequestPage = {
    ...{ ...common, outlook, lengths, held, refused, takenByHand, problems },
    several: choices.total > 0,
    values: values ?? { length: usual, why: refused?.notes['PENDING'] ?? '' },
  }
  return c.html(requestPage(page), status)
}

const isLength = (given: string): given is AccessLength => Object.hasOwn(ACCESS_LENGTHS, given)

export async function sendRequest(visit: Visit, form: Form): Promise<Response> {
  const { db, principal, context, t, now } = visit
  const wanted = form.get('permission') ?? APP_ITSELF
  const again = form.get('again') ?? undefined
  const why = keptText((form.get('why') ?? '').replaceAll('\r\n', '\n').trim(), MAX_WHY)
  const length = form.get('access_length') ?? ''
  const subject = await subjectOf(visit, form.get('app_id') ?? '', 1)
  const values = { length, why }
  const held = await heldNow(db, principal, subject.app.id, wanted === APP_ITSELF ? null : wanted)
  const isTooShort = held !== null && isLength(length) && !endsLater(length, held, now)
  const problems = {
    ...(isLength(length) ? {} : { length: t.w.choose_length }),
    ...(isTooShort ? { length: html`${extensionEnds(t, held, now)} ${t.w.choose_longer}` } : {}),
    ...(why === '' ? { why: t.w.say_why_need } : {}),
  }
  if (!isLength(length) || isTooShort || why === '')
    return showForm(visit, subject, wanted, { values, problems, again }, 422)
  const body = {
    app_id: subject.app.id,
    ...{ requester_user_id: undefined, target_user_id: undefined, note: undefined },
    ...{ business_justification: why, expiration_in_seconds: undefined, access_length: length },
    requestable_permission_ids: wanted === APP_ITSELF ? undefined : [wanted],
  }
  try {
    if (!(await createRequestOnce(db, principal, body, context)))
      throw new PageError('conflict', t.w.asked_already)
  } catch (error) {
    const { problem, status } = refusalOf(t, error, 'forbidden', 'conflict', 'invalid')
    const problems = { whole: problem }
    return showForm(visit, subject, wanted, { values, problems, again }, status)
  }
  return visit.done('asked', '/access#waiting')
}

const idOf = ({ c }: Visit): string => c.req.param('id') ?? ''

export async function withdraw(visit: Visit, form: Form): Promise<Response> {
  const { db, principal, context } = visit
  const reason = form.get('reason')?.trim() || null
  await cancelAccessRequest(db, principal, idOf(visit), reason, context)
  return visit.done('withdrawn', '/access#waiting')
}

export async function giveBackForm(visit: Visit): Promise<Response> {
  const { db, principal, context } = visit
  await giveBackAll(db, principal, idOf(visit), context)
  return visit.done('given-back', '/access#waiting')
}

export async function remind(visit: Visit, form: Form): Promise<Response> {
  const { db, principal, t } = visit
  const said = (form.get('comment') ?? '').replaceAll('\r\n', '\n').trim()
  const text = keptText(said, MAX_COMMENT) || t.w.remind_default
  await remindApprovers(db, principal, idOf(visit), text)
  return visit.done('reminded', '/access#waiting')
}
