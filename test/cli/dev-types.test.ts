import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { afterTypes } from '../../runtime/cli/dev-types.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A simulated folder: each change in `writing` regenerates the types. */
function open(writing: string[]) {
  const reported: string[] = []
  const outcomes: boolean[] = []
  const folder = { isReading: false }
  const change = afterTypes<string>(
    async () => outcomes.shift() ?? false,
    (rows) => reported.push(rows),
    () => folder.isReading,
  )
  return {
    reported,
    folder,
    change: (rows: string) => {
      outcomes.push(writing.includes(rows))
      return change(rows)
    },
  }
}

test('an edit that regenerates the types is reported once, by the change that the new types cause', async () => {
  const { change, reported } = open(['1.1.0'])
  await change('1.0.0')
  await change('1.1.0')
  expect(reported).toEqual(['1.0.0'])
  await change('1.1.0 with its types')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(reported).toEqual(['1.0.0', '1.1.0 with its types'])
})

test('an edit that regenerates the types is reported after a timeout if no change follows', async () => {
  const { change, reported } = open(['1.1.0'])
  await change('1.1.0')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(reported).toEqual(['1.1.0'])
})

test('an edit that regenerates the types is reported once on a slow machine too', async () => {
  const { change, reported, folder } = open(['1.1.0'])
  await change('1.1.0')
  folder.isReading = true
  await vi.advanceTimersByTimeAsync(10_000)
  expect(reported).toEqual([])
  folder.isReading = false
  await change('1.1.0 with its types')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(reported).toEqual(['1.1.0 with its types'])
})

test('only the latest of the changes that arrive while types are written is reported', async () => {
  const { change, reported } = open([])
  await Promise.all([change('a'), change('b')])
  expect(reported).toEqual(['b'])
})
