import { expect, test } from 'vitest'
import { createGuest } from './isolate.ts'

test('a log line carries the call, the level and the fields', async () => {
  const guest = await createGuest(
    `{ a: (_, ctx) => { ctx.log.warn('careful', { n: 1 }); return 1 } }`,
  )
  await guest.run('a', {}, 7)
  expect(await guest.posted('log')).toMatchObject({
    id: 7,
    head: { level: 'warn', message: 'careful', fields: { n: 1 } },
  })
})

test('console writes to the log of the call that started last', async () => {
  const guest = await createGuest(
    `{ a: () => { console.error('x', { b: 1 }, new TypeError('t'), undefined); return 1 } }`,
    `console.log('top')`,
  )
  await guest.run('a', {}, 3)
  expect(
    (await guest.all('log')).map(({ id, head }) => [id, head['level'], head['message']]),
  ).toEqual([
    [0, 'info', 'top'],
    [3, 'error', 'x {"b":1} t undefined'],
  ])
})

test('lines over the limit are dropped with one notice', async () => {
  const guest = await createGuest(
    `{ a: (_, ctx) => { for (let i = 0; i < 500; i += 1) ctx.log.info('x'); return 1 } }`,
  )
  await guest.run('a')
  const lines = await guest.all('log')
  expect(lines).toHaveLength(201)
  expect(lines[200]?.head['message']).toBe('further log lines are dropped: the limit is 200')
})

test('a long line is truncated and its fields are dropped', async () => {
  const guest = await createGuest(
    `{ a: (_, ctx) => { ctx.log.info('x'.repeat(1e6), { a: 1 }); return 1 } }`,
  )
  await guest.run('a')
  const { head } = await guest.posted('log')
  expect(head['message']).toHaveLength(8192)
  expect(head['fields']).toEqual({ fields_dropped: 'too long' })
})

test('fields that are not JSON do not break the handler', async () => {
  const guest = await createGuest(`{ a: (_, ctx) => { ctx.log.info('x', { n: 1n }); return 1 } }`)
  expect((await guest.run('a')).response).toBe(1)
  expect((await guest.posted('log')).head['fields']).toBeNull()
})
