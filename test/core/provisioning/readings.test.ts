/** Which readings of a system are kept. */
import { expect, test } from 'vitest'
import type { Reading } from '../../../runtime/contract/models/reading.ts'
import { addReadings } from '../../../runtime/core/provisioning/readings.ts'

const reading = (name: string): Reading => ({
  ...{ at: name, capability: 'get_account', call_id: null, connector_digest: null },
  shown: name.startsWith('there'),
})
const keptReadings = (...tries: string[][]) =>
  tries.reduce<Reading[]>((all, one) => addReadings(all, one.map(reading)), []).map(({ at }) => at)

test('of consecutive readings with the same result, the first and the last are kept', () => {
  const once = keptReadings(['there 1', 'there 2', 'there 3', 'gone 4'])
  expect(once).toEqual(['there 1', 'there 3', 'gone 4'])
  const tries = keptReadings(['there 1'], ['there 2'], ['there 3'], ['gone 4', 'gone 5', 'gone 6'])
  expect(tries).toEqual(['there 1', 'there 3', 'gone 4', 'gone 6'])
})

test('of many readings with changing results, the first and the latest are kept', () => {
  const many = Array.from({ length: 20 }, (_, n) => `${n % 2 === 0 ? 'there' : 'gone'} ${n}`)
  expect(keptReadings(many)).toEqual(['there 0', ...many.slice(-9)])
})
