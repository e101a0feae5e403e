/** Message on a reviewer's page about the lines that were just decided, with their numbers. */
import { DECISIONS } from '../../contract/models/review-item.ts'
import { keepFlash, sessionOf, takeFlash } from '../frame/cookies.ts'
import { proofOf } from '../frame/form.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { note } from '../pages/parts.ts'
import type { ConsoleVisit } from './visit.ts'

export type Outcome = {
  decision: (typeof DECISIONS)[number]
  /** Number of lines that were decided, and of those among them that had another decision before. */
  decided: number
  changed: number
  /** Number of lines that match the filter but were decided before, and so stay unchanged. */
  before: number
  /**
   * Number of selected lines that stay unchanged: they had this decision (`same`), or can no longer be
   * decided (`ended`).
   */
  same: number
  ended: number
}

/**
 * Formats the message: `3 lines: to be removed when the review ends; 1 of them was decided otherwise before.`
 */
export function outcomeWords({ w }: PageLocale, of: Outcome): string {
  const parts = [
    of.decided > 0 ? w.lines_decided[of.decision](of.decided) : '',
    of.changed > 0 ? w.lines_changed(of.changed) : '',
    of.before > 0 ? w.lines_before(of.before) : '',
    of.same > 0 ? w.lines_same(of.same) : '',
    of.ended > 0 ? w.lines_ended(of.ended) : '',
  ]
  return `${parts.filter((part) => part !== '').join('; ')}.`
}

/** Only messages of this session are shown, because the cookie may come from elsewhere. */
const sealed = ({ c, deps }: ConsoleVisit, text: string): string =>
  `${text}.${proofOf(deps.hasher, `${sessionOf(c) ?? ''} ${text}`)}`

/** Stores the message for the next page. */
export function keepOutcome(visit: ConsoleVisit, of: Outcome): void {
  const { decision, decided, changed, before, same, ended } = of
  const text = [decision, decided, changed, before, same, ended].join('-')
  keepFlash(visit.c, sealed(visit, text))
}

/** Renders the message once; null if there is none. */
export function decidedNotice(visit: ConsoleVisit): Markup | null {
  const kept = takeFlash(visit.c)
  const [text = ''] = kept?.split('.') ?? []
  const [name, ...numbers] = text.split('-')
  const decision = DECISIONS.find((one) => one === name)
  if (!decision || kept !== sealed(visit, text)) return null
  const [decided = 0, changed = 0, before = 0, same = 0, ended = 0] = numbers.map(Number)
  const of = { decision, decided, changed, before, same, ended }
  return note('good', 'check', outcomeWords(visit.t, of), '', 'status')
}
