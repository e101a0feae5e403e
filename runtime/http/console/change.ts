/**
 * A change in the console: a page that says what would be different and asks why, and the form that does it. The page is
 * an address and changes nothing; where the change is not possible it says so.
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
import type { Place } from '../frame/side.ts'
import type { Tongue } from '../frame/tongue.ts'
import type { Flash } from '../pages/flashes.ts'
import { note } from '../pages/parts.ts'
import { type FieldsTold, faultIn, namesInForm, withMarked, wrongIn } from './asked-fields.ts'
import { digestMark } from './mark.ts'
import { answerPage, card, field } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

/** What a change is about: names of the path, and what was chosen. */
export type About = {
  params: Record<string, string>
  /** A choice; empty where it was not made. */
  get(name: string): string
  /** All choices of a name. */
  all(name: string): string[]
}

/** Whether a line of a difference adds something, takes it away, or leaves it. */
type Sign = 'plus' | 'minus' | 'same'

/** A line of a difference: what the page says, or the English of the core. */
type DifferenceLine = string | { sign: Sign; words: string }

const signed =
  (sign: Sign) =>
  (words: string): DifferenceLine => ({ sign, words })

export const plus = signed('plus')
export const minus = signed('minus')
export const same = signed('same')

/** What the words of a row are: the same wherever it is shown, or by how the page speaks. */
type Said = string | ((t: Tongue) => string)

/** What the next page says once it is done. */
export type ChangeEnd = Flash | ((t: Tongue) => string)

type Preview = {
  /** Null before what it takes is filled in; `false` for a line that does not apply. */
  lines: readonly (DifferenceLine | false)[] | null
  /** The newest generation that was seen: a change of another person in between is not overrun. */
  generation?: number
}

export type ConsoleChange = {
  path: string
  place: Place
  /** The permission that it needs; null: the function of the core judges, because admins of an app may too. */
  who: Permission | null
  does: string
  title(about: About, t: Tongue): string
  lead?: Said
  button: Said
  /** It takes something away. */
  danger?: true
  /** Whether a reason is asked for, and must be given. */
  reason: 'asked' | 'needed' | 'none'
  /** Fields of its own, beside the reason: once they are sent, the page says what would be different, and asks again, as often as they change. */
  fields?(about: About, t: Tongue): Markup
  /** What these fields hold at first: what is there now. */
  given?(visit: ConsoleVisit, about: About): Promise<Record<string, string>>
  /** Links to the same with another choice. */
  options?(about: About, t: Tongue): Markup
  /** Where it is refused: a link to the same with what may be missing. */
  instead?(about: About, t: Tongue): Markup
  preview(visit: ConsoleVisit, about: About): Promise<Preview>
  /** Does it. @returns what is shown in place of the way back, where something must be */
  act(visit: ConsoleVisit, about: About): Promise<unknown>
  /** The pages above it: of what it is about, by name. */
  crumbs?(visit: ConsoleVisit, about: About): Promise<{ path: string; words: string }[]>
  /** Where it leads back to. */
  back(about: About): string
  /** What the next page says. */
  done: ChangeEnd
}

type ChangeWords = {
  title: string | ((what: string) => string)
  lead?: string
  button: string
  done: string
}

/** Words of a change, where they stand together in the catalogue; `what`: what its title names. */
export const wordsFrom = (
  of: (t: Tongue) => ChangeWords,
  what: (about: About) => string = () => '',
) => ({
  title(about: About, t: Tongue): string {
    const { title } = of(t)
    return typeof title === 'string' ? title : title(what(about))
  },
  lead: (t: Tongue): string => of(t).lead ?? '',
  button: (t: Tongue): string => of(t).button,
  done: (t: Tongue): string => of(t).done,
})

const said = (words: Said, t: Tongue): string => (typeof words === 'string' ? words : words(t))

/** Choices as an address has them. */
const aboutQuery = ({ c }: ConsoleVisit): About => {
  const query = new URL(c.req.url).searchParams
  return {
    params: c.req.param(),
    get: (name) => query.get(name) ?? '',
    all: (name) => query.getAll(name),
  }
}

/** Choices as the form has them: of several of one name each has a number. */
const aboutForm = ({ c }: ConsoleVisit, form: Form): About => ({
  params: c.req.param(),
  get: (name) => form.get(name)?.trim() ?? '',
  all: (name) =>
    [...form]
      .filter(([key]) => key.startsWith(`${name}.`) && /^\d+$/.test(key.slice(name.length + 1)))
      .map(([, value]) => value),
})

/** REFUSED: what a page tells beside what was filled in; the last two are another system's doing. */
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

/** The words of a refusal that the page can tell; anything else is thrown again. */
export function refusal(t: Tongue, error: unknown): { problem: Markup; status: Status } {
  if (!(error instanceof CoreError) && !(error instanceof RuntimeError)) throw error
  const told = toCoreError(error, '')
  const kind = REFUSED.find((one) => one === told.kind)
  if (kind === undefined) throw error
  return { problem: saidBy(t, told), status: REFUSAL_STATUS[kind] }
}

/** The page that asks. */
export async function askChange(visit: ConsoleVisit, change: ConsoleChange): Promise<Response> {
  const query = [...new URL(visit.c.req.url).searchParams]
  const hidden = query.map(([name, value], at): [string, string] => [
    LISTS.includes(name) ? `${name}.${at}` : name,
    value,
  ])
  const asked = { problem: null, status: 200 } as const
  const about = aboutQuery(visit)
  if (!change.given) return show(visit, change, about, hidden, asked)
  // Before anything was changed there is nothing to say; that it is there at all is asked for all the same.
  let given: Record<string, string> = {}
  const preview = async () => {
    given = (await change.given?.(visit, about)) ?? {}
    return { lines: null }
  }
  const get = (name: string): string => about.get(name) || (given[name] ?? '')
  return show(visit, { ...change, preview }, { ...about, get }, hidden, asked)
}

/** Choices of which there may be several. */
const LISTS = ['want']

/** The form: does it, or says on the same page why not. */
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

/** What was filled in, as browsers send it again: without empty fields, and with one kind of line end. */
const markOfFields = (all: readonly (readonly [string, string])[]): string =>
  digestMark(
    all
      .map(([name, value]) => [name, value.replaceAll('\r\n', '\n').trim()])
      .filter(([, value]) => value !== '')
      .map((one) => JSON.stringify(one))
      .toSorted(),
  )

/** What a change asks: its fields, and why. */
const askedBy = ({ fields, reason }: ConsoleChange, about: About, t: Tongue): Markup => {
  const { why: label, whyHelp: help } = t.console.change
  const [value, required] = [about.get('reason'), reason === 'needed']
  return html`${fields ? fields(about, t) : ''}
${reason === 'none' ? '' : field({ t, id: 'reason', label, help, value, required })}`
}

type Asked = {
  /** The fields that are wrong, which is said in place of the problem. */
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
    // What does not fit is said already, unless there is nothing that it could fit.
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
  // Only what was shown can be agreed to.
  const isSeen = change.fields && preview?.lines && refused === null
  // Only now: what is there is read with the preview.
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

/** Whether a change is refused the same way without any input: then its form is of no use. */
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
  /\b(no longer|forgotten|removed|disabled|serves nothing|trusted no more|deleted|ends|erased)\b/
const SAME = /\b(goes on|stays)\b/

/** What a line of the core does. */
export const signOf = (line: string): Sign =>
  MINUS.test(line) ? 'minus' : SAME.test(line) ? 'same' : 'plus'

export function differenceList(lines: NonNullable<Preview['lines']>, t: Tongue): Markup {
  const told = lines.filter((line) => line !== false)
  return told.length === 0
    ? html`<p class="in soft">${t.console.change.nothingDifferent}</p>`
    : html`<ul class="diff">${told.map((line) => (typeof line === 'string' ? html`<li class="${signOf(line)}" lang="en">${line}</li>` : html`<li class="${line.sign}">${line.words}</li>`))}</ul>`
}
