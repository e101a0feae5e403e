/** Short texts about the expected course of a request. */
import { ACCESS_LENGTHS } from '../../contract/models/access-length.ts'
import type { DecisionStep, RequestOutlook } from '../../contract/models/asking.ts'
import type { PageLocale } from '../frame/locale.ts'
import { assigneesText, eachByName, someNames } from './assignee-names.ts'

/** Formats the people of whom one decides. */
export const decidersOf = (t: PageLocale, { deciders, count }: DecisionStep): string =>
  assigneesText(t, deciders, count)

/** Formats the deciders of a step. A person who also decides the step before is not named twice. */
function decidersAfter(
  t: PageLocale,
  { deciders, count }: DecisionStep,
  before: DecisionStep,
): string {
  const known = new Set(before.deciders.map(({ id }) => id))
  const others = deciders.filter(({ id }) => !known.has(id))
  const isAll = others.length === 0 && count === before.count
  if (isAll) return count === 1 ? t.w.decides_again : t.w.one_decides_again
  // With several people it is not known yet who will decide.
  if (before.count > 1 || others.length === deciders.length)
    return assigneesText(t, deciders, count)
  return someNames(t, [...eachByName(t, others, count - 1), t.w.the_same_decides])
}

/** Returns whether a rule approves access without a person: always, up to some length, or never. */
export function ruled({ access_lengths: all, preapproved_access_lengths: some }: RequestOutlook) {
  const [longest] = some.toSorted((a, b) => secondsOf(b) - secondsOf(a))
  if (longest === undefined) return 'never'
  return some.length === all.length ? 'always' : { longest: secondsOf(longest) }
}

const secondsOf = (length: RequestOutlook['access_lengths'][number]): number =>
  ACCESS_LENGTHS[length] ?? Number.POSITIVE_INFINITY

/** Formats the deciders in order, and the length up to which none is needed. */
export function whoDecides(t: PageLocale, outlook: RequestOutlook): string {
  const by = ruled(outlook)
  if (by === 'always') return t.w.rule_decides
  const people = outlook.steps
    .map((one, at, all) => {
      const before = all[at - 1]
      return before === undefined ? decidersOf(t, one) : decidersAfter(t, one, before)
    })
    .join(t.w.then_decides)
  return by === 'never' ? people : t.w.rule_decides_up_to(t.wholeLength(by.longest), people)
}

/** Minimum number of decisions for a meaningful median. */
const ENOUGH = 5

/** Returns the usual time until a decision, in seconds; null after too few decisions. */
export const usualSeconds = ({ median_decision_seconds: median, ...all }: RequestOutlook) =>
  typeof median === 'number' && all.decided_requests >= ENOUGH ? median : null

/** Formats how long a decision takes. */
export function howLongItTakes(t: PageLocale, outlook: RequestOutlook): string {
  if (ruled(outlook) === 'always')
    return outlook.given_by_hand ? t.w.takes_a_hand : t.w.takes_no_time
  const seconds = usualSeconds(outlook)
  return seconds === null ? t.w.takes_unknown : t.w.takes_usually(t.length(seconds))
}
