import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { afterTypes } from '../../runtime/cli/dev-types.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A folder whose types are written for each of these changes. */
function open(writing: string[]) {
  const told: string[] = []
  const outcomes: boolean[] = []
  const change = afterTypes<string>(
    async () => outcomes.shift() ?? false,
    (rows) => told.push(rows),
  )
  return {
    told,
    change: (rows: string) => {
      outcomes.push(writing.includes(rows))
      return change(rows)
    },
  }
}

test('an edit that makes new types is told once, by the change that the types are', async () => {
  const { change, told } = open(['1.1.0'])
  await change('1.0.0')
  await change('1.1.0')
  expect(told).toEqual(['1.0.0'])
  await change('1.1.0 with its types')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(told).toEqual(['1.0.0', '1.1.0 with its types'])
})

test('it is told all the same where no such change is seen', async () => {
  const { change, told } = open(['1.1.0'])
  await change('1.1.0')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(told).toEqual(['1.1.0'])
})

test('of changes that come while types are written the latest is told', async () => {
  const { change, told } = open([])
  await Promise.all([change('a'), change('b')])
  expect(told).toEqual(['b'])
})
