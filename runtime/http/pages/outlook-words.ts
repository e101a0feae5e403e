/** What would happen if a person asked, in a few words. */
import { ACCESS_LENGTHS } from '../../contract/models/access-length.ts'
import type { DecisionStep, RequestOutlook } from '../../contract/models/asking.ts'
import type { Tongue } from '../frame/tongue.ts'
import { someNames } from './timeline.ts'

/** Those of whom one makes a decision. */
export function decidersOf(t: Tongue, { deciders, count }: DecisionStep): string {
  const names = deciders.map(({ name, email }) => name || email || t.w.someone)
  const unnamed = Array.from({ length: Math.max(0, count - names.length) }, () => '')
  return someNames(t, [...names, ...unnamed])
}

/** For how long access is approved by a rule without anybody: always, up to some length, or never. */
export function ruled({ access_lengths: all, preapproved_access_lengths: some }: RequestOutlook) {
  const [longest] = some.toSorted((a, b) => secondsOf(b) - secondsOf(a))
  if (longest === undefined) return 'never'
  return some.length === all.length ? 'always' : { longest: secondsOf(longest) }
}

const secondsOf = (length: RequestOutlook['access_lengths'][number]): number =>
  ACCESS_LENGTHS[length] ?? Number.POSITIVE_INFINITY

/** Who decides, one after the other; for up to which length nobody does. */
export function whoDecides(t: Tongue, outlook: RequestOutlook): string {
  const by = ruled(outlook)
  if (by === 'always') return t.w.rule_decides
  const people = outlook.steps.map((one) => decidersOf(t, one)).join(t.w.then_decides)
  return by === 'never' ? people : t.w.rule_decides_up_to(t.wholeLength(by.longest), people)
}

/** How long it takes until it is decided. */
export function howLongItTakes(t: Tongue, outlook: RequestOutlook): string {
  const { median_decision_seconds: median, given_by_hand: byHand } = outlook
  if (ruled(outlook) === 'always') return byHand ? t.w.takes_a_hand : t.w.takes_no_time
  return typeof median === 'number' ? t.w.takes_usually(t.length(median)) : t.w.takes_unknown
}
