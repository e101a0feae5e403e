/** Which batches of a listing are written beside others, and in which order they count. */
import { expect, test } from 'vitest'
import { writeInOrder } from '../../../runtime/core/sync/in-order.ts'

const TAKEN = Object.assign(new Error('it is there'), { code: '23505' })
const LOCKED = Object.assign(new Error('it took too long'), { code: '55P03' })

/** Batches that are written when they are let. */
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
    /** `name` ends with nothing for what is new, and with `again` for what is looked for. */
    async write(name: string) {
      await order.write(async (isNew, before) => {
        const told = isNew ? name : `${name} again`
        seen.push(`${told} begins`)
        await gate(told).promise
        await before
        seen.push(told)
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

test('two batches of what is new are under way at most, and count in their order', async () => {
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

test('what may be there is written one batch after the other', async () => {
  const { seen, write, ...all } = batches({ isNew: false })
  const first = write('a')
  await settle()
  expect(seen).toEqual(['a again begins'])
  all.let('a again')
  await first
  expect(seen).toEqual(['a again begins', 'a again', 'behind a'])
})

test.each([
  ['was there', TAKEN],
  ['is being written by another', LOCKED],
])(
  'from a row on that %s, no two batches are under way, and each is written once',
  async (_, error) => {
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
  },
)

test('a second batch whose row was there is written again behind the first', async () => {
  const { seen, write, ...all } = batches({ isNew: true })
  await write('a')
  const second = write('b')
  all.refuse('b', TAKEN)
  await settle()
  expect(seen).not.toContain('b again begins')
  all.let('a')
  all.let('b again')
  await second
  await all.written()
  expect(seen.filter((one) => /^[ab]( again)?$/.test(one))).toEqual(['a', 'b again'])
})

test('behind a batch that could not be written, none is, and its failure is told', async () => {
  const { seen, write, ...all } = batches({ isNew: true })
  await write('a')
  const second = write('b')
  all.let('b')
  all.refuse('a', new Error('the disk is full'))
  await expect(second).rejects.toThrow('the disk is full')
  await expect(all.written()).rejects.toThrow('the disk is full')
  expect(seen).toEqual(['a begins', 'behind a', 'b begins'])
})
