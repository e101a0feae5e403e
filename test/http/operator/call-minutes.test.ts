/** The calls of all hosts per minute, lists as event streams, and the overview for operators. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCallMinutes } from '../../../runtime/connectors/lifecycle/call-minutes.ts'
import type { Db } from '../../../runtime/database/database.ts'
import { ADMIN_TOKEN, app, type CoreHost, domainOf, person, startCore } from '../../core/host.ts'

let core: CoreHost
let domainId: string
beforeAll(async () => {
  core = await startCore()
  domainId = await domainOf(core.db)
})
afterAll(() => core.stop())

const START = Date.parse('2026-11-23T10:00:30Z')

/** Counters of another process, with a clock that the test sets. */
function gather(
  place: () => { db: Db; domainId: string } | null = () => ({ db: core.db, domainId }),
) {
  let ms = START
  const errors: unknown[] = []
  const minutes = createCallMinutes({
    place,
    now: () => ms,
    onError: (error) => errors.push(error),
  })
  return { minutes, errors, pass: (more: number) => (ms += more) }
}

const call = (more: object = {}) => ({
  ...{ connector: 'acme', capability: 'list_accounts', blame: null, ms: 40 },
  ...more,
})

async function rowsOf(connector: string) {
  const { rows } = await core.db.execute<Record<string, unknown>>(
    sql`select * from call_minutes where connector = ${connector} order by minute, id`,
  )
  return rows
}

describe('the calls of a minute', () => {
  test('are one row for each connector and capability, with counts, faults, bytes and hosts', async () => {
    const { minutes } = gather()
    const request = {
      connector: 'one',
      capability: 'list_accounts',
      sentBytes: 10,
      receivedBytes: 500,
    }
    minutes.called(call({ connector: 'one' }))
    minutes.called(call({ connector: 'one', blame: 'provider', ms: 700 }))
    minutes.called(call({ connector: 'one', capability: 'get_account', blame: 'caller' }))
    minutes.requested({ ...request, host: 'api.example', error: null })
    minutes.requested({ ...request, host: 'spy.example', error: 'egress_undeclared' })
    await minutes.write()
    const rows = await rowsOf('one')
    expect(rows.map(({ capability, calls }) => [capability, calls])).toEqual([
      ['list_accounts', 2],
      ['get_account', 1],
    ])
    expect(rows[0]).toMatchObject({
      ...{ by_provider: 1, by_caller: 0, requests: 2, sent_bytes: '20', received_bytes: '1000' },
      upstream: { 'api.example': [1, 0], 'spy.example': [0, 1] },
    })
    await minutes.stop()
  })

  test('are written once under concurrent writes, and never twice for one minute', async () => {
    const { minutes, pass } = gather()
    minutes.called(call({ connector: 'twice' }))
    await Promise.all([minutes.write(), minutes.write()])
    pass(100)
    minutes.called(call({ connector: 'twice' }))
    pass(-500_000)
    await minutes.write()
    minutes.called(call({ connector: 'twice' }))
    await minutes.stop()
    const rows = await rowsOf('twice')
    expect(rows.map(({ calls }) => calls)).toEqual([1, 1, 1])
    expect(new Set(rows.map(({ minute }) => String(minute))).size).toBe(3)
  })

  test('are kept while the database is away, with hosts of any name', async () => {
    let isThere = false
    const { minutes } = gather(() => (isThere ? { db: core.db, domainId } : null))
    minutes.called(call({ connector: 'away' }))
    minutes.requested({
      ...{ connector: 'away', capability: 'list_accounts', host: '__proto__', error: null },
      ...{ sentBytes: 1, receivedBytes: 1 },
    })
    await minutes.write()
    expect(await rowsOf('away')).toEqual([])
    isThere = true
    await minutes.stop()
    const [row] = await rowsOf('away')
    expect(JSON.stringify(row?.['upstream'])).toBe('{"__proto__":[1,0]}')
  })

  test('of too many connectors are counted together as other', async () => {
    const { minutes } = gather()
    for (let at = 0; at < 1200; at += 1) minutes.called(call({ connector: `many${at}` }))
    await minutes.write()
    const [other] = await rowsOf('other')
    expect(other?.['calls']).toBe(200)
    await minutes.stop()
  })

  test('that this host answered are included, with the faults of failures', async () => {
    await core.host.settled
    const path = '/connectors/scim/list_accounts'
    const body = { auth: { token: { token: 'x' } }, settings: { base_url: 'nowhere' }, request: {} }
    await core.host.app.request(path, {
      method: 'POST',
      headers: { host: 'localhost', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    await core.host.lifecycle.minutes.write()
    const { body: answer } = await core.call('GET', '/operator/call-minutes?connector_id=scim')
    expect(answer.items).toMatchObject([{ calls: 1, errors: { caller: 1 }, connector: null }])
  })
})

describe('GET /operator/call-minutes', () => {
  test('adds up the steps of all hosts, with percentiles', async () => {
    for (const ms of [20, 200]) {
      const { minutes } = gather()
      minutes.called(call({ connector: 'both', ms }))
      await minutes.stop()
    }
    // They were counted at the time of the test's clock.
    await core.db.execute(
      sql`update call_minutes set minute = date_trunc('minute', now()) where connector = 'both'`,
    )
    const { body } = await core.call(
      'GET',
      '/operator/call-minutes?connector_id=both&group=capability',
    )
    expect(body.items).toHaveLength(1)
    expect(body.items[0]).toMatchObject({
      calls: 2,
      connector: 'both',
      capability: 'list_accounts',
    })
    expect(body.items[0].p99_ms).toBeGreaterThan(100)
    expect(body.bounds_ms).toHaveLength(body.items[0].buckets.length - 1)
  })

  test('refuses more steps than fit an answer, with advice', async () => {
    const { status, body } = await core.call(
      'GET',
      '/operator/call-minutes?hours=720&step_minutes=1',
    )
    expect(status).toBe(422)
    expect(JSON.stringify(body)).toContain('use longer steps')
  })

  test('shows nothing of another domain', async () => {
    const { rows } = await core.db.execute<{ id: string }>(
      sql`insert into domains (name) values ('theirs') returning id`,
    )
    const { minutes } = gather(() => ({ db: core.db, domainId: rows[0]?.id ?? '' }))
    minutes.called(call({ connector: 'theirs' }))
    await minutes.stop()
    await core.db.execute(sql`update call_minutes set minute = now() where connector = 'theirs'`)
    const { body } = await core.call('GET', '/operator/call-minutes?connector_id=theirs')
    expect(body.items).toEqual([])
  })
})

describe('a list as an event stream', () => {
  /** A reader of events. */
  async function follow(path: string, headers: Record<string, string> = {}, token = ADMIN_TOKEN) {
    const ending = new AbortController()
    const reply = await core.host.app.request(path, {
      headers: {
        ...{ host: 'localhost', accept: 'text/event-stream', authorization: `Bearer ${token}` },
        ...headers,
      },
      signal: ending.signal,
    })
    const reader = reply.body?.getReader()
    let text = ''
    return {
      reply,
      /** The text that was sent, up to a word or the end. */
      async until(word: string): Promise<string> {
        while (!text.includes(word)) {
          const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
          if (done) return `${text}(end)`
          text += new TextDecoder().decode(value)
        }
        const received = text
        text = ''
        return received
      },
      async stop() {
        await reader?.cancel()
        ending.abort()
      },
    }
  }

  const runOf = async (name: string) => {
    const appId = await app(core.db, name)
    await core.db.execute(sql`insert into sync_runs (domain_id, app_id, page_size, state, ended_at)
      values (${domainId}, ${appId}, 100, 'FAILED', now())`)
    return appId
  }

  test('is sent at once and after each change, but not to a client that has it already', async () => {
    const appId = await runOf('Followed')
    const path = `/operator/syncs?app_id=${appId}`
    const first = await follow(path)
    expect(first.reply.headers.get('content-type')).toContain('text/event-stream')
    const received = await first.until('event: list\ndata: ')
    const [, id = ''] = /^id: (\S+)$/m.exec(received) ?? []
    await core.db.execute(sql`update sync_runs set phase = 'people' where app_id = ${appId}`)
    expect(await first.until('"phase":"people"')).toContain('event: list')
    await first.stop()

    await core.db.execute(sql`update sync_runs set phase = 'begin' where app_id = ${appId}`)
    const again = await follow(path, { 'last-event-id': id })
    await again.until('retry: ')
    await core.db.execute(sql`update sync_runs set phase = 'groups' where app_id = ${appId}`)
    const later = await again.until('"phase":"groups"')
    expect(later).not.toContain('"phase":"begin"')
    await again.stop()
  })

  test('ends when its reader loses the permission', async () => {
    const operator = await person(core.db, 'leaves@example.com', ['Admin'])
    const stream = await follow('/operator/jobs', {}, operator.token)
    await stream.until('event: list')
    await core.db.execute(sql`delete from user_roles where user_id = ${operator.id}`)
    expect(await stream.until('(never)')).toMatch(/event: end\ndata: \{\}\n\n\(end\)$/)
  })

  test('is refused beyond the limit of streams, and without the permission', async () => {
    const busy = await person(core.db, 'busy@example.com', ['Admin'])
    const open = []
    for (let at = 0; at < 5; at += 1) open.push(await follow('/operator/jobs', {}, busy.token))
    const { reply } = await follow('/operator/jobs', {}, busy.token)
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([429, '10'])
    for (const one of open) await one.stop()
    const user = await person(core.db, 'nobody@example.com')
    expect((await follow('/operator/jobs', {}, user.token)).reply.status).toBe(403)
  })

  test('is JSON for clients that do not ask for a stream', async () => {
    const { headers } = await core.call('GET', '/operator/jobs')
    expect(headers.get('content-type')).toContain('application/json')
  })
})

describe('GET /operator/overview', () => {
  test('lists failures, and counts apps, connectors and hosts', async () => {
    const appId = await app(core.db, 'Broken', { syncStatus: 'FAILED' })
    await core.db.execute(sql`insert into sync_runs (domain_id, app_id, page_size, state, problem, ended_at)
      values (${domainId}, ${appId}, 100, 'STOPPED', 'half of it vanished', now())`)
    const { body } = await core.call('GET', '/operator/overview')
    expect(body.attention).toContainEqual(
      expect.objectContaining({
        kind: 'sync_stopped',
        name: 'Broken',
        detail: 'half of it vanished',
      }),
    )
    expect(body.apps.troubled).toBe(1)
    expect(body.connectors.serving).toBeGreaterThan(5)
    expect(body.hosts.live).toBe(1)
  })
})
