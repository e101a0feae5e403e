/**
 * Changes in the console. A change has a page that shows its effects and asks for a reason, and a form that
 * performs it. The page has an address and changes nothing. If the change is not possible, the page states
 * why.
 */
import { html } from 'hono/html'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import type { Permission } from '../../contract/models/roles.ts'
import { REFUSAL_STATUS } from '../edge/statuses.ts'
import { toCoreError } from '../edge/to-core-error.ts'
import { saidBy } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { type Markup, proofField } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import type { Place } from '../frame/side.ts'
import type { Flash } from '../pages/flashes.ts'
import { note } from '../pages/parts.ts'
import { type FieldsTold, faultIn, namesInForm, withMarked, wrongIn } from './asked-fields.ts'
import { digestMark } from './mark.ts'
import { answerPage, card, field } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

/** Subject of a change: the names of the path, and the choices. */
export type About = {
  params: Record<string, string>
  /** Returns a choice, or an empty text. */
  get(name: string): string
  /** Returns all choices of a name. */
  all(name: string): string[]
}

/** Whether a line of a difference adds something, removes something, or leaves it unchanged. */
type Sign = 'plus' | 'minus' | 'same'

/** A line of a difference: the page's own text, or the core's in English. */
type DifferenceLine = string | { sign: Sign; words: string }

const signed =
  (sign: Sign) =>
  (words: string): DifferenceLine => ({ sign, words })

export const plus = signed('plus')
export const minus = signed('minus')
export const same = signed('same')

/** Text of a row: fixed, or by the language of the page. */
type Said = string | ((t: PageLocale) => string)

/** Message on the next page after the change. */
export type ChangeEnd = Flash | ((t: PageLocale) => string)

type Preview = {
  /** Null until the required fields are filled in. `false` omits a line. */
  lines: readonly (DifferenceLine | false)[] | null
  /** Generation that the preview is based on. A later change by another person is not overwritten. */
  generation?: number
}

export type ConsoleChange = {
  path: string
  place: Place
  /** Required permission. If null, the core decides, because app admins may do it too. */
  who: Permission | null
  does: string
  title(about: About, t: PageLocale): string
  lead?: Said
  button: Said
  /** Whether the change removes something. */
  danger?: true
  /** Whether a reason is optional, required, or not asked for. */
  reason: 'asked' | 'needed' | 'none'
  /**
   * Fields in addition to the reason. Once they are sent, the page shows the effects and asks again, as often
   * as they change.
   */
  fields?(about: About, t: PageLocale): Markup
  /** Returns the initial values of these fields, which are the current ones. */
  given?(visit: ConsoleVisit, about: About): Promise<Record<string, string>>
  /** Links to the same change with another choice. */
  options?(about: About, t: PageLocale): Markup
  /** If the change is refused: a link to it with an addition that may be missing, such as grants. */
  instead?(about: About, t: PageLocale): Markup
  preview(visit: ConsoleVisit, about: About): Promise<Preview>
  /** Performs the change. @returns a page to show instead of the redirect, if there is one */
  act(visit: ConsoleVisit, about: About): Promise<unknown>
  /** Returns the pages above it, up to the page of its subject. */
  crumbs?(visit: ConsoleVisit, about: About): Promise<{ path: string; words: string }[]>
  /** Address to return to. */
  back(about: About): string
  /** Message on the next page. */
  done: ChangeEnd
}

type ChangeWords = {
  title: string | ((what: string) => string)
  lead?: string
  button: string
  done: string
}

/** Returns the texts of a change that are together in the catalogue. `what` returns the name in the title. */
export const wordsFrom = (
  of: (t: PageLocale) => ChangeWords,
  what: (about: About) => string = () => '',
) => ({
  title(about: About, t: PageLocale): string {
    const { title } = of(t)
    return typeof title === 'string' ? title : title(what(about))
  },
  lead: (t: PageLocale): string => of(t).lead ?? '',
  button: (t: PageLocale): string => of(t).button,
  done: (t: PageLocale): string => of(t).done,
})

const said = (words: Said, t: PageLocale): string => (typeof words === 'string' ? words : words(t))

/** Returns the choices of an address. */
const aboutQuery = ({ c }: ConsoleVisit): About => {
  const query = new URL(c.req.url).searchParams
  return {
    params: c.req.param(),
    get: (name) => query.get(name) ?? '',
    all: (name) => query.getAll(name),
  }
}

/** Returns the choices of a form. Several values of one name are numbered. */
const aboutForm = ({ c }: ConsoleVisit, form: Form): About => ({
  params: c.req.param(),
  get: (name) => form.get(name)?.trim() ?? '',
  all: (name) =>
    [...form]
      .filter(([key]) => key.startsWith(`${name}.`) && /^\d+$/.test(key.slice(name.length + 1)))
      .map(([, value]) => value),
})

/** REFUSED: refusals that a page shows next to the input. The last two are caused by another system. */
const REFUSED = [
  'bad_request',
  'not_found',
  'conflict',
  'invalid',
  'too_many_requests',
  'not_implemented',
  'upstream_failed',
] as const

export type Status = 200 | (typeof REFUSAL_STATUS)[(typeof REFUSED)[number]]

/** Returns the message of a refusal that the page can show. Throws any other error again. */
export function refusal(t: PageLocale, error: unknown): { problem: Markup; status: Status } {
  if (!(error instanceof CoreError) && !(error instanceof RuntimeError)) throw error
  const told = toCoreError(error, '')
  const kind = REFUSED.find((one) => one === told.kind)
  if (kind === undefined) throw error
  return { problem: saidBy(t, told), status: REFUSAL_STATUS[kind] }
}

/** Shows the page that asks. */
export async function askChange(visit: ConsoleVisit, change: ConsoleChange): Promise<Response> {
  const query = [...new URL(visit.c.req.url).searchParams]
  const hidden = query.map(([name, value], at): [string, string] => [
    LISTS.includes(name) ? `${name}.${at}` : name,
    value,
  ])
  const asked = { problem: null, status: 200 } as const
  const about = aboutQuery(visit)
  if (!change.given) return show(visit, change, about, hidden, asked)
  // Without input there are no effects to show, but the subject must still exist.
  let given: Record<string, string> = {}
  const preview = async () => {
    given = (await change.given?.(visit, about)) ?? {}
    return { lines: null }
  }
  const get = (name: string): string => about.get(name) || (given[name] ?? '')
  return show(visit, { ...change, preview }, { ...about, get }, hidden, asked)
}

/** Choices with several values. */
const LISTS = ['want']

/** Performs the change, or shows the page again with the problem. */
export async function doChange(
  visit: ConsoleVisit,
  name: string,
  change: ConsoleChange,
  form: Form,
): Promise<Response> {
  const about = aboutForm(visit, form)
  const hidden = [...form].filter(([name]) => !OWN.includes(name))
  const wrong = wrongIn(visit.t, askedBy(change, about, visit.t), about.get)
  if (wrong !== null)
    return show(visit, change, about, hidden, { wrong, problem: null, status: 422 })
  if (change.fields && form.get('seen') !== markOfFields(hidden)) {
    const problem = form.has('seen') ? visit.t.console.change.changedSince : null
    const status = problem === null ? 200 : 409
    return show(visit, change, about, hidden, { problem, status })
  }
  try {
    const shown = await change.act(visit, about)
    if (shown instanceof Response) return shown
  } catch (error) {
    const wrong = faultIn(visit.t, askedBy(change, about, visit.t), error)
    return show(visit, change, about, hidden, { wrong, ...refusal(visit.t, error) })
  }
  return visit.done(name, change.back(about))
}

/** Fields that the page itself writes. */
const OWN = ['form_token', 'reason', 'expected_generation', 'seen']

/**
 * Returns a digest of the input that is stable when browsers send it again: without empty fields, with one
 * kind of line break.
 */
const markOfFields = (all: readonly (readonly [string, string])[]): string =>
  digestMark(
    all
      .map(([name, value]) => [name, value.replaceAll('\r\n', '\n').trim()])
      .filter(([, value]) => value !== '')
      .map((one) => JSON.stringify(one))
      .toSorted(),
  )

/** Renders the fields of a change, and the reason. */
const askedBy = ({ fields, reason }: ConsoleChange, about: About, t: PageLocale): Markup => {
  const { why: label, whyHelp: help } = t.console.change
  const [value, required] = [about.get('reason'), reason === 'needed']
  return html`${fields ? fields(about, t) : ''}
${reason === 'none' ? '' : field({ t, id: 'reason', label, help, value, required })}`
}

type Asked = {
  /** The invalid fields. Their problem replaces `problem`. */
  wrong?: FieldsTold | null
  problem: Markup | string | null
  status: Status
}

async function show(
  visit: ConsoleVisit,
  change: ConsoleChange,
  about: About,
  hidden: readonly (readonly [string, string])[],
  { wrong = null, problem, status }: Asked,
): Promise<Response> {
  const { c, t } = visit
  const w = t.console.change
  let [preview, refused, code]: [Preview | null, Markup | null, Status] = [null, null, status]
  let names = wrong?.names ?? []
  try {
    preview = await change.preview(visit, about)
    if (names.some((name) => name !== 'reason')) preview = { lines: null }
  } catch (error) {
    const told = refusal(t, error)
    // Invalid input has already been reported, unless the subject does not exist.
    if (wrong === null || told.status === 404) {
      const fault = faultIn(t, askedBy(change, about, t), error)
      refused = fault?.problem ?? told.problem
      names = fault?.names ?? []
      code = status === 200 || told.status === 404 ? told.status : status
    }
    // The form is shown again, unless no input could be accepted.
    if (
      change.fields &&
      told.status !== 404 &&
      !(await isAlwaysRefused(visit, change, about, error))
    )
      preview = { lines: null }
  }
  const back = change.back(about)
  const crumbs = code === 404 ? [] : ((await change.crumbs?.(visit, about)) ?? [])
  // Only effects that were shown can be confirmed.
  const isSeen = change.fields && preview?.lines && refused === null
  // After the preview, which loads the current values.
  const asked = askedBy(change, about, t)
  const ownNames = namesInForm(asked)
  const trouble = code === 404 ? null : (wrong?.problem ?? problem)
  const content = html`
${trouble === null ? '' : note('bad', 'alert', w.notDone, trouble, 'alert')}
${refused === null ? '' : note('bad', 'alert', w.notPossible, refused, 'alert')}
${
  preview === null
    ? html`<div class="row">${code === 409 && change.instead ? change.instead(about, t) : ''}<a class="btn" href="${back}">${w.back}</a></div>`
    : html`${preview.lines === null ? '' : card({ id: 'difference', title: w.whatChanges, note: isSeen ? w.notYet(said(change.button, t)) : '' }, differenceList(preview.lines, t))}
${change.options ? change.options(about, t) : ''}
<form class="card" method="post" action="${c.req.path}"><div class="in stack">
${proofField(visit.proof)}
${hidden.filter(([name]) => !ownNames.includes(name)).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${isSeen ? html`<input type="hidden" name="seen" value="${markOfFields(hidden)}">` : ''}
${preview.generation === undefined ? '' : html`<input type="hidden" name="expected_generation" value="${preview.generation}">`}
${withMarked(asked, names)}
<div class="row"><button class="btn ${change.danger ? 'danger' : 'main'}">${said(change.button, t)}</button><a class="btn plain" href="${back}">${w.cancel}</a></div>
</div></form>`
}`
  return answerPage(visit, {
    ...{ place: change.place, content, crumbs },
    title: change.title(about, t),
    lead: said(change.lead ?? '', t),
    status: code,
  })
}

/** Reports whether a change is refused for the same reason without any input. Its form is useless then. */
async function isAlwaysRefused(
  visit: ConsoleVisit,
  { preview }: ConsoleChange,
  about: About,
  error: unknown,
): Promise<boolean> {
  try {
    await preview(visit, { ...about, get: () => '', all: () => [] })
    return false
  } catch (other) {
    const words = (one: unknown) => (one instanceof CoreError ? JSON.stringify(one.detail) : null)
    return words(error) !== null && words(other) === words(error)
  }
}

const MINUS =
  /\b(no longer|forgotten|removed|disabled|serves nothing|trusted no more|deleted|ends|erased|is off)\b/
const SAME = /\b(goes on|stays)\b/

/** Start of a line about grants. The rest is written by the connector, so its words mean nothing here. */
const GRANT = /^(?:\S+: )?may (no longer )?/

/** Names that people choose: of a publisher, of a header, an address, or quoted. */
const NAMES = /^publisher .*: |"(?:[^"\\]|\\.)*"|https?:\S+|\bheader \S+/g

/** Returns the effect of a line from the core. */
export function signOf(line: string): Sign {
  const grant = GRANT.exec(line)
  if (grant) return grant[1] === undefined ? 'plus' : 'minus'
  const own = line.replace(NAMES, '')
  return MINUS.test(own) ? 'minus' : SAME.test(own) ? 'same' : 'plus'
}

export function differenceList(lines: NonNullable<Preview['lines']>, t: PageLocale): Markup {
  const told = lines.filter((line) => line !== false)
  return told.length === 0
    ? html`<p class="in soft">${t.console.change.nothingDifferent}</p>`
    : html`<ul class="diff">${told.map((line) => (typeof line === 'string' ? html`<li class="${signOf(line)}" lang="en">${line}</li>` : html`<li class="${line.sign}">${line.words}</li>`))}</ul>`
}
