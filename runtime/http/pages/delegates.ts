/** The page of a person's delegates, and what it sends. */
import { CoreError } from '../../contract/errors/problem.ts'
import {
  createDelegation,
  endDelegation,
  listDelegations,
} from '../../core/delegation/delegations.ts'
import { REFUSAL_STATUS } from '../edge/statuses.ts'
import { wordsOf } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { searchText } from './access.ts'
import { type DelegateForm, delegatesPage } from './delegates-page.ts'
import { personNamed } from './named.ts'
import type { Visit } from './visit.ts'

/** Most of each list that are shown. */
const SIZE = 50

const NOTHING: DelegateForm = { person: '', since: '', until: '', reason: '', problem: null }

export async function showDelegates(
  visit: Visit,
  form: DelegateForm = NOTHING,
  status: 200 | 409 | 422 = 200,
): Promise<Response> {
  const { c, db, principal, t, now } = visit
  const { userId, readOnly } = principal
  const of = { page: 1, size: SIZE, user_id: null, delegate_id: null }
  const yours = await listDelegations(db, principal, { ...of, user_id: userId })
  const others = await listDelegations(db, principal, { ...of, delegate_id: userId })
  const [visitor, flash] = [await visit.visitor(), visit.flash()]
  const page = { t, visitor, flash, readOnly, yours, others, form, now }
  return c.html(delegatesPage(page), status)
}

export async function nameDelegate(visit: Visit, form: Form): Promise<Response> {
  const { c, db, principal, context, t, now } = visit
  const given = {
    person: searchText(form.get('person')),
    since: form.get('since') ?? '',
    until: form.get('until') ?? '',
    reason: form.get('reason')?.trim() ?? '',
  }
  const again = (problem: string, status: 409 | 422) =>
    showDelegates(visit, { ...given, problem }, status)
  const delegate = await personNamed(db, principal, given.person)
  if (!delegate) return again(t.w.nobody_known, 422)
  if (given.until === '') return again(t.w.delegate_days, 422)
  // A day that has begun is meant from now on.
  const isToCome = given.since > now.toISOString().slice(0, 10)
  try {
    const body = {
      ...{ delegate_id: delegate.id, user_id: undefined, reason: given.reason },
      since: isToCome ? `${given.since}T00:00:00Z` : undefined,
      until: `${given.until}T23:59:59.999Z`,
    }
    await createDelegation(db, principal, body, context)
  } catch (error) {
    if (!(error instanceof CoreError && (error.kind === 'conflict' || error.kind === 'invalid')))
      throw error
    return again(wordsOf(error), REFUSAL_STATUS[error.kind])
  }
  visit.say('delegated')
  return c.redirect('/settings/delegates', 303)
}

export async function withdrawDelegate(visit: Visit): Promise<Response> {
  const { c, db, principal, context } = visit
  await endDelegation(db, principal, c.req.param('id') ?? '', context)
  visit.say('undelegated')
  return c.redirect('/settings/delegates', 303)
}
