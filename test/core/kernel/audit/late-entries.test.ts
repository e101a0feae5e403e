/** Log entries of work without a database: written in order and once, despite stops and failures. */

import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordActivity } from '../../../../runtime/core/kernel/audit/activity.ts'
import { createLateEntries } from '../../../../runtime/core/kernel/audit/late-entries.ts'
import { until } from '../../../e2e/until.ts'
import { type CoreHost, domainOf, startCore } from '../../host.ts'
import { eventNamed } from './event-named.ts'

let core: CoreHost
let domain: string

beforeAll(async () => {
  core = await startCore()
  domain = await domainOf(core.db)
})
afterAll(() => core.stop())

/** Late entries of a host whose database a test makes available or unavailable. */
function lateEntries() {
  const state = { there: false, lost: [] as unknown[] }
  const entries = createLateEntries({
    database: { db: () => (state.there ? core.db : null), domainId: () => domain },
    onLost: (error) => state.lost.push(error),
  })
  const write = (type: string, before: () => Promise<unknown> = async () => undefined) =>
    entries.write(async (tx, { domainId, happened }) => {
      await before()
      await recordActivity(tx, { domainId, userId: null }, eventNamed(type), [], happened)
    })
  return { state, entries, write }
}

const types = async (beginning: string): Promise<string[]> =>
  (await core.call('GET', '/activity_logs?newest_first=true&limit=100')).body.items
    .map((one: { event_type: string }) => one.event_type)
    .filter((type: string) => type.startsWith(beginning))
    .reverse()

test('an entry that arrives once the database is back is written after the waiting ones', async () => {
  const { state, entries, write } = lateEntries()
  await write('ORDER_1')
  await write('ORDER_2')
  state.there = true
  await write('ORDER_3')
  await until('all three entries are written', async () => (await types('ORDER_')).length === 3)
  expect(await types('ORDER_')).toEqual(['ORDER_1', 'ORDER_2', 'ORDER_3'])
  await entries.stop()
  expect(state.lost).toEqual([])
})

test('a host that stops while waiting entries are written writes each of them once', async () => {
  const { state, entries, write } = lateEntries()
  const begun = Promise.withResolvers<void>()
  const mayGoOn = Promise.withResolvers<void>()
  await write('ENDS_1', () => {
    begun.resolve()
    return mayGoOn.promise
  })
  await write('ENDS_2')
  state.there = true
  await begun.promise
  const stopped = entries.stop()
  mayGoOn.resolve()
  await stopped
  expect(await types('ENDS_')).toEqual(['ENDS_1', 'ENDS_2'])
  expect(state.lost).toEqual([])
})

/** Breaks the connection at the first commit with such an entry: before the commit, or before its answer. */
function breakAtCommit(type: string, isDone: boolean) {
  const { query } = Client.prototype
  const broken = { times: 0 }
  Client.prototype.query = new Proxy(query, {
    apply(target, client: Client, args: unknown[]) {
      const text = String(Object(args[0]).text ?? args[0])
      const isIt = text.includes(type) && text.endsWith('commit')
      if (!isIt || broken.times > 0) return Reflect.apply(target, client, args)
      broken.times += 1
      const done = isDone ? Reflect.apply(target, client, args) : Promise.resolve()
      return done.then(async () => {
        Object(client).connection.stream.destroy()
        throw new Error('Connection terminated unexpectedly')
      })
    },
  })
  const restore = () => {
    Client.prototype.query = query
  }
  return { broken, mend: restore }
}

test.each([
  ['after', true],
  ['before', false],
])('an entry whose connection breaks %s its commit is written once', async (when, isDone) => {
  const type = `BREAKS_${when.toUpperCase()}`
  const { state, entries, write } = lateEntries()
  state.there = true
  const { broken, mend: restore } = breakAtCommit(type, isDone)
  try {
    await write(type)
    await write(`${type}_NEXT`)
    await until('the next entry is written', async () => (await types(`${type}_NEXT`)).length === 1)
  } finally {
    restore()
  }
  await entries.stop()
  expect(broken.times).toBe(1)
  expect(await types(type)).toEqual([type, `${type}_NEXT`])
  expect(state.lost).toEqual([])
})

test('a thousand entries wait; each further one, and all those left at the stop, are reported as lost', async () => {
  const { state, entries, write } = lateEntries()
  for (let at = 0; at <= 1000; at += 1) await write('MANY')
  expect(state.lost).toHaveLength(1)
  await entries.stop()
  expect(state.lost).toHaveLength(1001)
})
