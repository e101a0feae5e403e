/**
 * The form of an access policy: the rows of its condition, the access that it grants, and a preview of the
 * affected people before it is saved.
 */
import { html } from 'hono/html'
import * as v from 'valibot'
import { CoreError } from '../../contract/errors/problem.ts'
import { AccessPolicyInput } from '../../contract/models/access-policy.ts'
import { IDENTITY_MEMBERS, OPERATORS } from '../../contract/models/condition.ts'
import { keysOf } from '../../contract/schema/keys.ts'
import { attributeNames } from '../../core/directory/attribute-names.ts'
import { createPolicy, getPolicy, putPolicy } from '../../core/policies/policies.ts'
import { type PolicyPreview, previewPolicy } from '../../core/policies/preview.ts'
import { PageError, saidApart } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { type Markup, proofField } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { note, whole } from '../pages/parts.ts'
import { differenceList, minus, plus, refusal, type Status } from './change.ts'
import { actionIn, enterButton } from './enter.ts'
import { digestMark } from './mark.ts'
import { answerPage, brief, card, check, field, listed, option } from './parts.ts'
import { personPath } from './person-link.ts'
import { nobodyHas } from './policies.ts'
import {
  type Draft,
  draftIn,
  draftOf,
  EMPTY,
  EMPTY_LINE,
  MAX_LINES,
  policyBodyOf,
  STATES,
  WHO,
} from './policy-form.ts'
import { type PolicyChoice, thingsFound, thingsNamed } from './policy-things.ts'
import type { ConsoleVisit } from './visit.ts'

const LIST = '/console/policies'

const idOf = ({ c }: ConsoleVisit): string | null => c.req.param('access_policy_id') ?? null

type Shown = {
  draft: Draft
  /** Search text for apps; null before a search. */
  find?: string | null
  preview?: PolicyPreview | null
  /** Why it was not saved. A list for several reasons. */
  problem?: Markup | readonly Markup[] | null
  status?: Status
}

export const showNewPolicy = (visit: ConsoleVisit): Promise<Response> =>
  show(visit, { draft: EMPTY })

export async function showPolicyEdit(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal } = visit
  const one = await getPolicy(db, principal, idOf(visit) ?? '')
  return one ? show(visit, { draft: draftOf(one) }) : c.notFound()
}

/** Handles the buttons of the form. All but the last show the form again. */
export async function takePolicy(visit: ConsoleVisit, form: Form): Promise<Response> {
  const { t } = visit
  const draft = draftIn(form)
  const action = actionIn(form, 'preview')
  const find = form.get('find')?.trim() || null
  if (action === 'add')
    return show(visit, {
      draft: { ...draft, lines: [...draft.lines, EMPTY_LINE].slice(0, MAX_LINES) },
    })
  if (action.startsWith('drop.')) {
    const lines = draft.lines.filter((_, at) => `drop.${at}` !== action)
    return show(visit, { draft: { ...draft, lines: lines.length === 0 ? [EMPTY_LINE] : lines } })
  }
  if (action === 'find') return show(visit, { draft, find: find ?? '' })
  try {
    const body = inputOf(t, draft)
    const id = idOf(visit)
    const { db, principal, context } = visit
    // Only a previewed draft is saved. A later change is previewed first.
    if (action !== 'save' || form.get('seen') !== digestMark(policyBodyOf(draft))) {
      const preview = await previewPolicy(db, principal, body, id)
      return show(visit, { draft, preview, find })
    }
    const saved =
      id === null
        ? await createPolicy(db, principal, body, context)
        : await putPolicy(db, principal, id, body, context)
    return visit.done('policy-saved', `${LIST}/${saved?.id ?? ''}`)
  } catch (error) {
    const told = refusal(t, error)
    const apart = error instanceof CoreError ? saidApart(t, error) : []
    const problem = apart.length > 1 ? apart : told.problem
    return show(visit, { draft, find, problem, status: told.status })
  }
}

/** Parses a draft. @throws CoreError `invalid` */
function inputOf(t: PageLocale, draft: Draft): AccessPolicyInput {
  let body: unknown
  try {
    body = policyBodyOf(draft)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw new PageError('invalid', t.console.policy_edit.noJson, { cause })
  }
  const parsed = v.safeParse(AccessPolicyInput, body)
  if (parsed.success) return parsed.output
  const told = parsed.issues.map((issue) => {
    const at = String(issue.path?.[0]?.key ?? '')
    return t.console.policy_edit.wrong[at] ?? `${at}: ${issue.message}`
  })
  const apart = [...new Set(told)].map((msg) => ({ loc: [], msg, type: 'value_error' }))
  throw new PageError('invalid', apart)
}

async function show(
  visit: ConsoleVisit,
  { draft, find = null, preview = null, problem = null, status = 200 }: Shown,
): Promise<Response> {
  const { db, principal, t } = visit
  const w = t.console.policy_edit
  const id = idOf(visit)
  const known = [...IDENTITY_MEMBERS, ...(await attributeNames(db, principal.domainId))]
  const chosen = await thingsNamed(t, db, principal, draft.gives)
  const found = find === null ? null : await thingsFound(t, db, principal, find)
  const at = id === null ? `${LIST}/new` : `${LIST}/${id}/edit`
  const back = id === null ? LIST : `${LIST}/${id}`
  const content = html`${problem === null ? '' : note('bad', 'alert', w.notSaved, problem, 'alert')}
${preview === null ? '' : previewCard(t, preview)}
<form class="stack" method="post" action="${at}">
${proofField(visit.proof)}
${enterButton(w.preview, find)}
${preview === null ? '' : html`<input type="hidden" name="seen" value="${digestMark(policyBodyOf(draft))}">`}
${preview === null ? '' : actions(t, back, true)}
${card(
  { id: 'about', title: w.about },
  html`<div class="in stack">
${field({ t, id: 'name', label: w.name, value: draft.name, most: 255, required: true })}
${field({ t, id: 'why', label: w.why, help: w.whyHelp, value: draft.why, most: 500 })}
<div class="field"><label for="state">${w.state}</label><select id="state" name="state">${STATES.map((one) => option(one, w.states[one], draft.state))}</select></div>
</div>`,
)}
${whoCard(t, draft, known)}
${givesCard(t, draft, chosen, { find, found })}
${actions(t, back, false)}
</form>`
  return answerPage(visit, {
    ...{ place: 'policies', content },
    title: id === null ? w.newTitle : w.editTitle(draft.name),
    lead: w.lead,
    status,
  })
}

const actions = (t: PageLocale, back: string, isSeen: boolean): Markup =>
  html`<div class="row">${isSeen ? html`<button class="btn main" name="do" value="save">${t.console.policy_edit.save}</button>` : html`<button class="btn" name="do" value="preview">${t.console.policy_edit.preview}</button>`}<a class="btn plain" href="${back}">${t.console.policy_edit.cancel}</a></div>`

const whoCard = (t: PageLocale, draft: Draft, known: readonly string[]): Markup =>
  card(
    { id: 'who', title: t.console.policy_edit.who },
    html`<div class="in stack">
<div class="field"><label for="who-is">${t.console.policy_edit.assigneeText}</label><select id="who-is" name="who">${WHO.filter((one) => one !== 'text' || draft.who === 'text').map((one) => option(one, t.console.policy_edit.whos[one], draft.who))}</select></div>
${
  draft.who === 'text'
    ? html`<div class="field"><label for="text">${t.console.policy_edit.text}</label><p class="help" id="text-help">${t.console.policy_edit.textHelp}</p><textarea id="text" name="text" class="mono" rows="10" maxlength="20000" spellcheck="false" aria-describedby="text-help">
${draft.text}</textarea></div>`
    : html`<datalist id="attributes">${known.map((one) => html`<option value="${one}"></option>`)}</datalist>
${draft.lines.map(
  (
    line,
    at,
  ) => html`<fieldset class="filter"><legend class="unseen">${t.console.policy_edit.line(at + 1)}</legend>
<div class="grow"><label for="attribute.${at}">${t.console.policy_edit.attribute}</label><input id="attribute.${at}" name="attribute.${at}" list="attributes" value="${line.attribute}" maxlength="200" autocomplete="off"></div>
<div><label for="operator.${at}">${t.console.policy_edit.operator}</label><select id="operator.${at}" name="operator.${at}">${keysOf(OPERATORS).map((one) => option(one, t.console.policy_edit.operators[one], line.operator))}</select></div>
<div class="grow"><label for="value.${at}">${t.console.policy_edit.value}</label><input id="value.${at}" name="value.${at}" value="${line.value}" maxlength="1000" autocomplete="off"></div>
<button class="btn less" name="do" value="drop.${at}">${t.console.policy_edit.drop}<span class="unseen"> ${t.console.policy_edit.line(at + 1)}</span></button>
</fieldset>`,
)}
<p class="help">${t.console.policy_edit.linesHelp}</p>
${draft.lines.length >= MAX_LINES ? '' : html`<div><button class="btn" name="do" value="add">${t.console.policy_edit.add}</button></div>`}`
}
</div>`,
  )

type Looked = { find: string | null; found: readonly PolicyChoice[] | null }

const givesCard = (
  t: PageLocale,
  { gives, preapproved }: Draft,
  chosen: readonly PolicyChoice[],
  { find, found }: Looked,
): Markup => {
  const w = t.console.policy_edit
  const apps = new Map(chosen.map(({ appId, app }) => [appId, app]))
  const more = (found ?? []).filter(({ value }) => !gives.includes(value))
  return card(
    { id: 'gives', title: w.gives },
    html`<div class="in stack">
${chosen.length === 0 ? html`<p class="soft">${w.givesNothing}</p>` : ''}
${chosen.map((one, at) => check({ name: `give.${at}`, value: one.value, words: one.words, isOn: true }))}
${[...apps].map(([id, app], at) => check({ name: `pre.${at}`, value: id, words: w.preapproved(app), isOn: preapproved.includes(id) }))}
<div class="filter"><div class="grow"><label for="find-apps">${w.find}</label><input id="find-apps" name="find" type="search" value="${find ?? ''}" maxlength="200"></div><button class="btn" name="do" value="find">${w.findDo}</button></div>
${found !== null && more.length === 0 ? html`<p class="soft" role="status">${w.foundNothing}</p>` : ''}
${more.map((one, at) => check({ name: `give.${chosen.length + at}`, value: one.value, words: one.words }))}
${more.length > 0 ? html`<p class="help">${w.foundHelp}</p>` : ''}
</div>`,
  )
}

function previewCard(t: PageLocale, told: PolicyPreview): Markup {
  const w = t.console.policy_edit
  const { fitting, added, removed, denied, people, looked, isAll, isInForce, missing } = told
  const lines = [
    added > 0 && plus(w.added(added)),
    denied > 0 && minus(w.denied(denied)),
    removed > 0 && minus(w.removed(removed)),
  ]
  const about = {
    ...{
      id: 'preview',
      title: w.previewTitle(fitting),
    },
    note: isAll ? '' : w.notAll(looked),
  }
  return html`${card(
    about,
    html`${nobodyHas(t, missing)}${isInForce ? '' : html`<p class="in">${w.notInForce}</p>`}${added + removed === 0 ? html`<p class="in soft">${w.noneTouched}</p>` : differenceList(lines, t)}`,
  )}
${listed(
  {
    id: 'people',
    title: w.people,
    note: people.length < fitting ? w.firstOf(people.length) : '',
  },
  [w.person, w.isNew],
  people.map(({ id, name, email, isNew }) => [
    html`<a href="${personPath(id)}">${brief(name, 80)}</a><span class="sub">${whole(email)}</span>`,
    isNew ? w.yes : w.already,
  ]),
  { title: w.nobody, text: w.nobodyText },
  t,
)}`
}
