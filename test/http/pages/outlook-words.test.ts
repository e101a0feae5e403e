/** Who decides on a request, in the short text of a tile. */
import { expect, test } from 'vitest'
import type { RequestOutlook } from '../../../runtime/contract/models/asking.ts'
import { localeOf } from '../../../runtime/http/frame/locale.ts'
import { whoDecides } from '../../../runtime/http/pages/outlook-words.ts'

const NAMES: Record<string, string> = { a: 'Amir Carter', b: 'Beth Dunn', d: 'Design' }

/** Steps by the first letters of their deciders; `more`: how many deciders are not named. */
const outlook = (steps: string[], more = 0): RequestOutlook =>
  // The cast: only the deciders of an outlook are read.
  ({
    access_lengths: ['8 hours'],
    preapproved_access_lengths: [],
    steps: steps.map((ids) => ({
      kind: 'approvers',
      deciders: [...ids].map((id) => ({ id, type: 'USER', name: NAMES[id], email: null })),
      count: ids.length + more,
    })),
  }) as unknown as RequestOutlook

const english = localeOf('en')

test.each([
  [['a', 'ad'], 'Amir Carter, then Design or the same person'],
  [['a', 'a'], 'Amir Carter, then again'],
  [['ab', 'ab'], 'Amir Carter or Beth Dunn, then again one of them'],
  [['a', 'd'], 'Amir Carter, then Design'],
  // Beth may or may not have decided the first step, so all deciders of the second one are named.
  [['ab', 'bd'], 'Amir Carter or Beth Dunn, then Beth Dunn or Design'],
  [['a', 'abd', 'd'], 'Amir Carter, then Beth Dunn, Design or the same person, then Design'],
])('the steps %j are described', (steps, words) => {
  expect(whoDecides(english, outlook(steps))).toBe(words)
})

test('steps with the same deciders are described as such even if some of them are not named', () => {
  expect(whoDecides(english, outlook(['a', 'ad'], 0))).not.toContain('others')
  expect(whoDecides(english, outlook(['abd', 'abd'], 9))).toMatch(/then again one of them$/)
})

test('the text is available in German', () => {
  expect(whoDecides(localeOf('de'), outlook(['a', 'ad']))).toBe(
    'Amir Carter, dann Design oder dieselbe Person',
  )
})
