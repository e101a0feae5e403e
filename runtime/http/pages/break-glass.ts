/** Taking break-glass access. */
import { CoreError } from '../../contract/errors/problem.ts'
import { MAX_GLASS_MINUTES, MAX_GLASS_REASON } from '../../contract/models/break-glass.ts'
import { listBreakGlass } from '../../core/catalogue/store/break-glass.ts'
import { keptText } from '../../core/kernel/kept-text.ts'
import { takeBreakGlass } from '../../core/requests/break-glass.ts'
import { REFUSAL_STATUS } from '../edge/statuses.ts'
import { saidBy } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import type { Markup } from '../frame/layout.ts'
import { breakGlassPage, type GlassValues } from './break-glass-page.ts'
import type { Visit } from './visit.ts'

/** Most that are shown. */
const MOST = 100

export const showBreakGlass = (visit: Visit): Promise<Response> =>
  show(visit, { id: visit.c.req.query('id') ?? '', minutes: '', reason: '' }, null, 200)

async function show(
  visit: Visit,
  values: GlassValues,
  problem: Markup | string | null,
  status: 200 | 403 | 409 | 422,
): Promise<Response> {
  const { c, db, principal, t } = visit
  const query = { mine: true, app_id: null, page: 1, size: MOST }
  const { items } = await listBreakGlass(db, principal, query)
  const visitor = await visit.visitor()
  return c.html(breakGlassPage({ t, visitor, items, values, problem }), status)
}

export async function takeForm(visit: Visit, form: Form): Promise<Response> {
  const { c, db, principal, context, t } = visit
  const given = (form.get('reason') ?? '').replaceAll('\r\n', '\n').trim()
  const values = {
    id: form.get('id') ?? '',
    minutes: (form.get('minutes') ?? '').trim(),
    reason: keptText(given, MAX_GLASS_REASON),
  }
  const minutes = /^\d{1,4}$/.test(values.minutes) ? Number(values.minutes) : 0
  if (values.id === '') return show(visit, values, t.w.glass_choose, 422)
  if (values.reason === '') return show(visit, values, t.w.glass_say_why, 422)
  if (values.minutes !== '' && (minutes < 1 || minutes > MAX_GLASS_MINUTES))
    return show(visit, values, t.w.glass_say_minutes, 422)
  const body = { reason: values.reason, minutes: values.minutes === '' ? undefined : minutes }
  try {
    const { id } = await takeBreakGlass(db, principal, values.id, body, context)
    visit.say('taken')
    return c.redirect(`/access/requests/${id}`, 303)
  } catch (error) {
    if (!(error instanceof CoreError)) throw error
    const { kind } = error
    if (kind !== 'forbidden' && kind !== 'conflict' && kind !== 'invalid') throw error
    return show(visit, values, saidBy(error), REFUSAL_STATUS[kind])
  }
}
