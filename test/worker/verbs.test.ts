import type ivm from 'isolated-vm'
import { expect, test } from 'vitest'
import { createSlices } from '../../runtime/worker/slices.ts'
import { type Entries, verbs } from '../../runtime/worker/verbs.ts'

/** An isolate that has ended between two entries, as one does whose memory ran out in a collection of V8's own. */
function ended() {
  const told: string[] = []
  const gone = () => Promise.reject(new Error('Isolate is disposed'))
  const isolate = { isDisposed: true, getHeapStatistics: gone }
  const guest = verbs(
    // Of the isolate only these members are read; without one no entry is called.
    isolate as unknown as ivm.Isolate,
    {} as Entries,
    [],
    128,
    createSlices().share(),
    {
      post: () => {},
      onCatastrophe: () => {},
      onMade: () => {},
      onBox: () => {},
      onBroken: (_error, why) => void told.push(why),
      onHeavy: () => {},
      isThreaded: () => false,
      onStray: () => {},
    },
  )
  return { guest, told }
}

test('a call into an isolate that has ended is not left without an answer', () => {
  const { guest, told } = ended()
  guest.run(1, 'list_accounts', '{}')
  expect(told).toEqual(['memory'])
})

test('a reply for an isolate that has ended is told too', () => {
  const { guest, told } = ended()
  guest.deliver(1, '{}', '', 1)
  expect(told).toEqual(['memory'])
})
