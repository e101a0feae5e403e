/** Which batches of a listing are written concurrently, and in which order they take effect. */
import { expect, test } from 'vitest'
import { writeInOrder } from '../../../runtime/core/sync/ordered-writes.ts'

const DUPLICATE = Object.assign(new Error('duplicate key'), { code: '23505' })
const LOCKED = Object.assign(new Error('lock timeout'), { code: '55P03' })

/** Batches whose writes finish when the test lets them. */
function batches(options: { isNew: boolean }) {
  const order = writeInOrder(options)
  const seen: string[] = []
  const gates = new Map<string, ReturnType<typeof Promise.withResolvers<void>>>()
  const gate = (name: string) => {
    const one = gates.get(name) ?? Promise.withResolvers<void>()
    gates.set(name, one)
    return one
  }
  return {
    seen,
    written: order.written,
    /** Records `name` for a write of new rows, and `name again` for a write that looks for existing rows. */
    async write(name: string) {
      await order.write(async (isNew, before) => {
        const step = isNew ? name : `${name} again`
        seen.push(`${step} begins`)
        await gate(step).promise
        await before
        seen.push(step)
      })
      seen.push(`behind ${name}`)
    },
    let: (name: string) => gate(name).resolve(),
    refuse: (name: string, error: Error) => gate(name).reject(error),
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
}

test('at most two batches of new rows are written at once, and take effect in order', async () => {
  const { seen, write, ...all } = batches({ isNew: true })
  await write('a')
  const second = write('b')
  await settle()
  expect(seen).toEqual(['a begins', 'behind a', 'b begins'])
  all.let('b')
  await settle()
  expect(seen).not.toContain('b')
  all.let('a')
  await second
  await all.written()
  expect(seen).toEqual(['a begins', 'behind a', 'b begins', 'a', 'b', 'behind b'])
})

test('batches whose rows may exist are written one after the other', async () => {
  const { seen, write, ...all } = batches({ isNew: false })
  const first = write('a')
  await settle()
  expect(seen).toEqual(['a again begins'])
  all.let('a again')
  await first
  expect(seen).toEqual(['a again begins', 'a again', 'behind a'])
})

test.each([
  ['already exists', DUPLICATE],
  ['another transaction is writing', LOCKED],
])('after a row that %s, batches are written one at a time, and each once', async (_, error) => {
  const { seen, write, ...all } = batches({ isNew: true })
  await write('a')
  const second = write('b')
  all.let('b')
  all.refuse('a', error)
  for (const name of ['a again', 'b again']) all.let(name)
  await second
  const third = write('c')
  await settle()
  expect(seen.slice(-1)).toEqual(['c again begins'])
  all.let('c again')
  await third
  await all.written()
  const counted = seen.filter((one) => /^[abc]( again)?$/.test(one))
  expect(counted).toEqual(['a again', 'b again', 'c again'])
})

test('a second batch with an existing row is written again after the first', async () => {
  const { seen, write, ...all } = batches({ isNew: true })
  await write('a')
  const second = write('b')
  all.refuse('b', DUPLICATE)
  await settle()
  expect(seen).not.toContain('b again begins')
  all.let('a')
  all.let('b again')
  await second
  await all.written()
  expect(seen.filter((one) => /^[ab]( again)?$/.test(one))).toEqual(['a', 'b again'])
})

test('after a batch that fails, no other is written, and the error is thrown', async () => {
  const { seen, write, ...all } = batches({ isNew: true })
  await write('a')
  const second = write('b')
  all.let('b')
  all.refuse('a', new Error('the disk is full'))
  await expect(second).rejects.toThrow('the disk is full')
  await expect(all.written()).rejects.toThrow('the disk is full')
  expect(seen).toEqual(['a begins', 'behind a', 'b begins'])
})
