/** Tokens of identity providers: created, shown once, and revoked. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { SCIM_PATH } from '../../contract/endpoints/scim.ts'
import { type NewScimToken, type ScimToken, ScimTokenInput } from '../../contract/models/scim.ts'
import { createScimToken, listScimTokens, revokeScimToken } from '../../core/scim/tokens.ts'
import type { PageWords } from '../../words/page-words.ts'
import { originOf } from '../edge/https.ts'
import { fieldError } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { type Markup, proofField } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { SIDE } from '../frame/side.ts'
import { pageNumber } from '../pages/access.ts'
import { note, pagesNav } from '../pages/parts.ts'
import { faultIn, withMarked } from './asked-fields.ts'
import { refusal, type Status } from './change.ts'
import { answerPage, card, columnsOf, field, listed } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

const { path: PATH } = SIDE.scim
const SIZE = 50
const LOOKS = [undefined, 'c3', 'c2', 'c3', 'c3', undefined] as const

type Token = v.InferOutput<typeof ScimToken>
type Shown = {
  typed?: Form
  problem?: Markup | null
  /** Names of the invalid fields. */
  names?: readonly string[]
  made?: v.InferOutput<typeof NewScimToken> | null
  status?: Status
}

export const showScimTokens = (visit: ConsoleVisit): Promise<Response> => show(visit, {})

async function show(
  visit: ConsoleVisit,
  { typed = new Map(), problem = null, names = [], made = null, status = 200 }: Shown,
): Promise<Response> {
  const { c, db, principal, t, deps } = visit
  const { w } = t
  const address = `${originOf(c, deps.publicOrigin)}${SCIM_PATH}`
  const page = pageNumber(c.req.query('page'))
  const tokens = await listScimTokens(db, principal, { page, size: SIZE })
  const mayWrite = principal.permissions.has('scim.write') && !principal.readOnly
  const content = html`${made === null ? '' : once(w, made)}
${problem === null ? '' : note('bad', 'alert', w.no_token_made, problem, 'alert')}
<p>${w.scim_address}: <code class="wrap">${address}</code><br><a href="/docs/administer/scim">${w.scim_how}</a></p>
${mayWrite ? withMarked(form(t, visit.proof, typed), names) : ''}
${listed(
  { id: 'list', title: w.scim_tokens, count: tokens.total },
  columnsOf(w.scim_columns, LOOKS),
  tokens.items.map((one) => cells(visit, one, mayWrite ? visit.proof : null)),
  { title: w.scim_none, text: w.scim_none_text },
  t,
  pagesNav(t, tokens, w.scim_tokens, (at) => `${PATH}?page=${at}`),
)}`
  return answerPage(visit, {
    ...{ place: 'scim', isPlace: true },
    ...{ title: w.scim_tokens, lead: w.scim_lead, content },
    status,
  })
}

const once = (w: PageWords, { name, token }: { name: string; token: string }): Markup =>
  card(
    { id: 'made', title: w.token_ready(name) },
    html`<div class="in stack">
<p id="made-help">${w.token_ready_text}</p>
<div class="field"><label for="new-token">${w.your_new_token}</label>
<div class="row keep"><input id="new-token" class="mono" value="${token}" readonly autofocus autocomplete="off" spellcheck="false" aria-describedby="made-help">
<button class="btn" id="copy" type="button" data-done="${w.copied}" data-failed="${w.copy_by_hand}" hidden>${w.copy}</button></div></div>
<p id="copied" class="small" role="status"></p>
</div>`,
  )

const form = (t: PageLocale, proof: string, typed: Form): Markup =>
  card(
    { id: 'create', title: t.w.new_token },
    html`<form class="in stack" method="post" action="${PATH}">
${proofField(proof)}
${field({ t, id: 'name', label: t.w.token_fields.name, help: t.w.scim_name_help, value: typed.get('name') ?? '', most: 100, required: true })}
<div class="field"><label for="expires">${t.w.token_fields.expires} <span class="soft">${t.w.optional}</span></label><p class="help" id="expires-help">${t.w.token_expires_help}</p><input id="expires" name="expires" type="date" value="${typed.get('expires') ?? ''}" aria-describedby="expires-help"></div>
<div><button class="btn main">${t.w.create_token}</button></div>
</form>`,
  )

function cells({ t, now }: ConsoleVisit, one: Token, proof: string | null): (Markup | string)[] {
  const { w } = t
  const at = (moment: string | null) =>
    moment === null ? w.never : t.moment(new Date(moment), now)
  return [
    one.name,
    html`<code>${one.prefix}…</code>`,
    at(one.created_at),
    at(one.last_used_at),
    at(one.expires_at),
    stateOf(w, one, { at, now, proof }),
  ]
}

function stateOf(
  w: PageWords,
  { id, name, revoked_at, expires_at }: Token,
  { at, now, proof }: { at(moment: string): Markup | string; now: Date; proof: string | null },
): Markup | string {
  if (revoked_at !== null) return w.revoked_at(at(revoked_at))
  if (expires_at !== null && new Date(expires_at) <= now) return w.expired
  if (proof === null) return w.token_works
  return html`<details class="more"><summary>${w.revoke}<span class="unseen"> ${name}</span></summary>
<form method="post" action="${PATH}/${id}/end">
${proofField(proof)}
<p class="small">${w.scim_revoke_text}</p>
<button class="btn danger less">${w.revoke_for_good}<span class="unseen">: ${name}</span></button>
</form></details>`
}

/** Creates a token. The answer itself shows it, once. */
export async function takeScimToken(visit: ConsoleVisit, typed: Form): Promise<Response> {
  const { db, principal, context, t } = visit
  try {
    const body = inputOf(typed, t.w, visit.now)
    return show(visit, { made: await createScimToken(db, principal, body, context) })
  } catch (error) {
    const wrong = faultIn(t, form(t, visit.proof, typed), error)
    return show(visit, { typed, ...refusal(t, error), ...wrong })
  }
}

/** Parses the input. @throws CoreError `invalid` */
function inputOf(typed: Form, { token_problems: say }: PageWords, now: Date): ScimTokenInput {
  const name = typed.get('name')?.trim() ?? ''
  const day = typed.get('expires')?.trim() ?? ''
  if (name === '') throw fieldError('name', say.no_name)
  const end = new Date(`${day}T23:59:59.999Z`)
  if (day !== '' && !end.toJSON()?.startsWith(day)) throw fieldError('expires', say.no_day)
  if (day !== '' && end <= now) throw fieldError('expires', say.past_day)
  const parsed = v.safeParse(ScimTokenInput, {
    name,
    ...(day === '' ? {} : { expires_at: end.toISOString() }),
  })
  if (parsed.success) return parsed.output
  throw fieldError('name', say.long_name(100))
}

export async function endScimToken(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal } = visit
  await revokeScimToken(db, principal, c.req.param('scim_token_id') ?? '')
  return visit.done('scim-token-ended', PATH)
}
