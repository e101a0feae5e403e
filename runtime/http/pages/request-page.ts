/** Asking for access: first what of an app, then how long and why; beside it who will decide. */
import { html } from 'hono/html'
import type { AccessLength } from '../../contract/models/access-length.ts'
import type { App } from '../../contract/models/app.ts'
import type { DecisionStep, RequestOutlook } from '../../contract/models/asking.ts'
import { icon } from '../frame/icons.ts'
import { AREAS, layout, type Markup, proofField, type Visitor } from '../frame/layout.ts'
import { counted, lengthOf } from '../frame/words.ts'
import { note, pagesNav } from './parts.ts'
import { oneOf, type Step, timeline } from './timeline.ts'

export type Choice = { id: string; label: string }

type Common = { visitor: Visitor; app: App; instructions: string | null }

/** What is asked for when it is no permission. */
export const APP_ITSELF = 'app'

/** Longest text of why a person asks, in characters. */
export const MAX_WHY = 4000

const head = ({ app }: Common): Markup => html`<div class="head"><div>
<ol class="crumbs"><li><a href="${AREAS.access.path}">My access</a></li><li><a href="${AREAS.access.path}#catalogue">Catalogue</a></li></ol>
<h1 class="wrap">Request access to ${app.user_friendly_label}</h1>${app.description && html`<p class="wrap">${app.description}</p>`}
</div></div>`

const fromAdmins = ({ instructions }: Common): Markup | string =>
  instructions ? note('', 'info', 'From the app’s admins', instructions) : ''

export type ChoosePage = Common & {
  choices: { items: readonly Choice[]; total: number; page: number; pages: number }
}

const addressOf = (app: App, permission: string): string =>
  `/access/request?${new URLSearchParams({ app_id: app.id, permission })}`

/** An app with several permissions: which one. */
export function choosePage(page: ChoosePage): Markup {
  const { visitor, app, choices } = page
  return layout({
    title: `Request access to ${app.user_friendly_label}`,
    visitor,
    area: 'access',
    content: html`<div class="page portal">
${head(page)}
${fromAdmins(page)}
<section class="card" aria-labelledby="h-what"><header><h2 id="h-what">What do you need?</h2><span class="count">${choices.total}</span></header>
<ul class="lines">
${choices.items.map(({ id, label }) => html`<li><a href="${addressOf(app, id)}">${label}</a></li>`)}
<li><a href="${addressOf(app, APP_ITSELF)}">Only an account</a></li>
</ul>
${pagesNav(choices, 'permissions', (at) => `/access/request?${new URLSearchParams({ app_id: app.id, page: String(at) })}`)}
</section>
</div>`,
  })
}

export type RequestValues = { length: string; why: string }

export type RequestPage = Common & {
  /** Null for the app itself. */
  permission: Choice | null
  /** Whether there is something else to choose. */
  several: boolean
  outlook: RequestOutlook
  values: RequestValues
  problems: { length?: string; why?: string; whole?: string }
}

export function requestPage(page: RequestPage): Markup {
  const { visitor, app, permission, problems, several } = page
  const failed = Object.keys(problems).length > 0
  return layout({
    title: `${failed ? 'Error: request' : 'Request'} access to ${app.user_friendly_label}`,
    visitor,
    area: 'access',
    content: html`<div class="page portal">
${head(page)}
<div class="cols">
<form class="card" method="post" action="/access/request" novalidate>
<div class="in stack wide">
${proofField(visitor.proof)}
<input type="hidden" name="app_id" value="${app.id}">
<input type="hidden" name="permission" value="${permission?.id ?? APP_ITSELF}">
${failed && summary(problems)}
<div class="field"><h2>What</h2>
<p class="row"><strong class="wrap">${permission?.label ?? 'Access to the app'}</strong>${several && html`<a class="small" href="/access/request?app_id=${app.id}">Choose something else</a>`}</p></div>
${howLong(page)}
${why(page)}
<div class="row"><button class="btn main">Send request</button><a class="btn plain" href="${AREAS.access.path}">Cancel</a></div>
</div>
</form>
<aside class="stack" aria-label="What will happen">
${whoDecides(page)}
${fromAdmins(page)}
</aside>
</div>
</div>`,
  })
}

function summary({ length, why, whole }: RequestPage['problems']): Markup {
  const lines = html`${whole && html`${whole} `}${length && html`<a href="#length-0">${length}</a> `}${why && html`<a href="#why">${why}</a>`}`
  return note('bad', 'alert', 'The request was not sent', lines, 'alert')
}

const problem = (id: string, text: string | undefined): Markup | string =>
  text === undefined ? '' : html`<p class="error" id="${id}">${icon('alert')}${text}</p>`

const WORDS_OF_LENGTH = (length: AccessLength): string =>
  length === 'Unlimited' ? 'Without an end' : length

function howLong({ outlook, values, problems }: RequestPage): Markup {
  const chosen = outlook.access_lengths.find((one) => one === values.length)
  return html`<fieldset class="field"><legend>How long</legend>
<div class="row pills">${outlook.access_lengths.map(
    (length, at) =>
      html`<label class="choice"><input type="radio" id="length-${at}" name="access_length" value="${length}"${length === chosen ? html` checked` : ''}>${WORDS_OF_LENGTH(length)}</label>`,
  )}</div>
<p class="help">The time begins when the access is there. You can ask to extend it.</p>
${problem('length-problem', problems.length)}</fieldset>`
}

const why = ({ values, problems }: RequestPage): Markup => html`
<div class="field"><label for="why">Why do you need it?</label>
<p class="help" id="why-help">Those who decide read this. Say what you will do with it, and for what.</p>
<textarea id="why" name="why" rows="3" maxlength="${MAX_WHY}" aria-invalid="${problems.why ? 'true' : 'false'}" aria-describedby="why-help${problems.why ? ' why-problem' : ''}" required>
${values.why}</textarea>
${problem('why-problem', problems.why)}</div>`

const namesOf = ({ deciders, count }: DecisionStep): string => {
  const names = deciders.map(({ name, email }) => name || email || 'Someone')
  const unnamed = Array.from({ length: Math.max(0, count - names.length) }, () => '')
  return oneOf([...names, ...unnamed])
}

/** Who decides and what comes then, in the order in which it would happen. */
function whoDecides({ outlook, values }: RequestPage): Markup {
  const { steps, given_by_hand: byHand, median_decision_seconds: median } = outlook
  const step = (title: string, part: string): Step => ({
    ...{ kind: 'next' as const, icon: 'clock' as const, title },
    parts: part === '' ? [] : [part],
  })
  const gives = byHand
    ? step('A person gives it by hand', '')
    : step('Keyway gives it', 'As soon as everybody has said yes')
  const ends =
    values.length === 'Unlimited' ? [] : [step('Keyway takes it back', 'When its time is over')]
  const way = [
    ...steps.map((one) =>
      step(namesOf(one), one.kind === 'manager' ? 'Decides as manager' : 'Decides as approver'),
    ),
    gives,
    ...ends,
  ]
  return html`<section class="card" aria-labelledby="h-who"><header><h2 id="h-who">Who will decide</h2></header><div class="in stack">
${timeline(way)}
<p class="small soft">${
    median === null || median === undefined
      ? 'Nobody has decided on a request for this app in the last 90 days.'
      : `Usually decided in ${lengthOf(median)} (median of ${counted(outlook.decided_requests, 'request')} in 90 days).`
  }</p>
</div></section>`
}
