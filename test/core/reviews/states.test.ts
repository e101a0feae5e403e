/** The state tables: open states lead to a final state. */
import { expect, test } from 'vitest'
import {
  ITEM_STATE_TABLE,
  itemStatesBefore,
  REVIEW_APP_STATES,
  REVIEW_STATES,
} from '../../../runtime/core/reviews/machine/states.ts'

type Table = Record<string, { next: readonly string[] }>

function reached(table: Table, from: string, found = new Set<string>()): Set<string> {
  for (const to of table[from]?.next ?? [])
    if (!found.has(to)) {
      found.add(to)
      reached(table, to, found)
    }
  return found
}

test.each([
  ['a review', REVIEW_STATES, 'COMPLETED', ['SCHEDULED', 'IN_PREPARATION', 'IN_PROGRESS']],
  ['an app', REVIEW_APP_STATES, 'COMPLETED', ['IN_PREPARATION', 'WAITING_FOR_MANUAL_ACTION']],
  ['a line', ITEM_STATE_TABLE, 'REMOVED', ['OPEN', 'KEPT', 'REJECTED', 'WAITING_FOR_HANDS']],
] as const)('%s can reach its final state from each open state', (_, table, end, states) => {
  for (const state of states) expect(reached(table, state)).toContain(end)
})

test('only a line that is being removed becomes REMOVED', () => {
  expect(itemStatesBefore('REMOVED')).toEqual(['REMOVING', 'WAITING_FOR_HANDS'])
  expect(itemStatesBefore('REMOVING')).toEqual(['REJECTED', 'WAITING_FOR_HANDS'])
})
