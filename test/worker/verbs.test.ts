import type ivm from 'isolated-vm'
import { expect, test } from 'vitest'
import { createSlices, SLICE_MS } from '../../runtime/worker/slices.ts'
import { type Entries, verbs } from '../../runtime/worker/verbs.ts'

type Entry = () => unknown

/** An isolate with these entries. */
function entered(isDisposed: boolean, entries: Record<string, Entry> = {}) {
  const messages: string[] = []
  const strays: string[] = []
  const gone = () => Promise.reject(new Error('Isolate is disposed'))
  const isolate = { isDisposed, getHeapStatistics: gone }
  const guest = verbs(
    // Only these members of the isolate are read, and only the entries that are given.
    isolate as unknown as ivm.Isolate,
    Object.fromEntries(
      Object.entries(entries).map(([name, applySync]) => [name, { applySync }]),
    ) as unknown as Entries,
    [],
    128,
    createSlices().share(),
    {
      post: () => {},
      onCatastrophe: () => {},
      onMade: () => {},
      onBox: () => {},
      onBroken: (_error, why) => void messages.push(why),
      onHeavy: () => {},
      isThreaded: () => false,
      onStray: (reason) => void strays.push(String(reason)),
    },
  )
  return { guest, told: messages, strays }
}

/** An isolate that has ended between two entries, as when its memory ran out in a garbage collection. */
const ended = () => entered(true)

test('a call into an isolate that has ended is reported as out of memory', () => {
  const { guest, told } = ended()
  guest.run(1, 'list_accounts', '{}')
  expect(told).toEqual(['memory'])
})

test('a fetch reply for an isolate that has ended is reported as out of memory', () => {
  const { guest, told } = ended()
  guest.deliver(1, '{}', '', 1)
  expect(told).toEqual(['memory'])
})

/** Fails like an entry that isolated-vm ends at its time limit. */
function outOfTime(): never {
  const endMs = performance.now() + SLICE_MS
  while (performance.now() < endMs);
  throw new Error('Script execution timed out.')
}

function rejected(): never {
  throw new Error('nothing handled it')
}

test('an entry that exceeds its time limit is reported as cut', () => {
  const { guest, told, strays } = entered(false, { run: outOfTime })
  guest.run(1, 'list_accounts', '{}')
  expect({ told, strays }).toEqual({ told: ['cut'], strays: [] })
})

test('a box that cannot be collected in time is reported as cut, not as a stray', () => {
  const { guest, told, strays } = entered(false, { run: rejected, collect: outOfTime })
  guest.run(1, 'list_accounts', '{}')
  expect({ told, strays }).toEqual({ told: ['cut'], strays: ['Error: nothing handled it'] })
})
