/** Lists are cached by version: they must be correct at any time, with any writer. */
import { randomUUID } from 'node:crypto'
import { parse } from 'csv-parse/sync'
import { eq, sql } from 'drizzle-orm'
import { Client, type Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  foldChanges,
  inSnapshot,
  readVersions,
} from '../../../../runtime/core/kernel/list/versions.ts'
import { tableChanges } from '../../../../runtime/database/schema/changes.ts'
import { groups, users } from '../../../../runtime/database/schema/people.ts'
import { until } from '../../../e2e/until.ts'
import { eventually } from '../../../kit/eventually.ts'
import {
  ADMIN_TOKEN,
  type CoreHost,
  domainOf,
  group,
  type Person,
  person,
  startCore,
  task,
} from '../../host.ts'

let core: CoreHost
let ada: Person

beforeAll(async () => {
  core = await startCore({ KEYWAY_REQUESTS_PER_MINUTE: '100000' })
  ada = await person(core.db, 'ada@example.com')
})
afterAll(() => core.stop())

const list = async (target: string) => (await core.call('GET', target)).body
const found = async (target: string): Promise<[number, string[]]> => {
  const { total, items } = await list(target)
  return [total, items.map((one: { email?: string; name?: string }) => one.email ?? one.name)]
}

describe('a cached list', () => {
  test('shows people who were added, changed or deleted at once', async () => {
    const target = '/users?search_term=grace'
    expect(await found(target)).toEqual([0, []])
    const grace = await person(core.db, 'grace@example.com')
    expect(await found(target)).toEqual([1, ['grace@example.com']])
    await core.db
      .update(users)
      .set({ email: 'hopper@example.com', givenName: 'G' })
      .where(eq(users.id, grace.id))
    expect(await found(target)).toEqual([0, []])
    await core.db.update(users).set({ givenName: 'Grace' }).where(eq(users.id, grace.id))
    expect(await found(target)).toEqual([1, ['hopper@example.com']])
    await core.db.delete(users).where(eq(users.id, grace.id))
    expect(await found(target)).toEqual([0, []])
  })

  test('depends on every table that it reads', async () => {
    const team = await group(core.db, 'Team', [])
    const mine = async () => (await core.call('GET', '/tasks', { token: ada.token })).body.total
    const before = await mine()
    await task(core.db, { groupIds: [team] })
    expect(await mine()).toBe(before)
    expect(await found(`/groups/${team}/users`)).toEqual([0, []])
    await core.db.execute(
      sql`insert into group_members (domain_id, group_id, user_id) select domain_id, id, ${ada.id} from groups where id = ${team}`,
    )
    expect(await mine()).toBe(before + 1)
    expect(await found(`/groups/${team}/users`)).toEqual([1, ['ada@example.com']])
    await core.db.delete(groups).where(eq(groups.id, team))
    expect(await mine()).toBe(before)
  })

  test('takes one query, and a transaction only after a change', async () => {
    // Cast: the types of drizzle omit this member.
    const { $client: pool } = core.db as unknown as { $client: Pool }
    const begun = vi.spyOn(pool, 'connect')
    const asked = vi.spyOn(pool, 'query')
    const questions = async (target: string) => {
      asked.mockClear()
      begun.mockClear()
      const { total } = await list(target)
      const texts = asked.mock.calls.map((call) => JSON.stringify(call))
      const rows = texts.filter((text) => text.includes('table_changes')).length
      // Each query of the pool connects, too; the remaining connects are transactions.
      return { total, rows, transactions: begun.mock.calls.length - asked.mock.calls.length }
    }
    try {
      for (const page of ['', '&page=2']) {
        const target = `/groups?name=team${page}`
        await questions(target)
        // Repeated, because a job may send queries in the meantime.
        await eventually(async () => {
          const { rows, transactions } = await questions(target)
          expect({ rows, transactions }).toEqual({ rows: 1, transactions: 0 })
        })
        await eventually(async () => {
          const { total } = await list(target)
          await group(core.db, `Team ${randomUUID()}`, [])
          // The query reports that something has changed.
          const after = await questions(target)
          expect(after).toEqual({ total: total + 1, rows: 1, transactions: 1 })
        })
      }
    } finally {
      vi.restoreAllMocks()
    }
  })

  test('shows nothing of a transaction that was rolled back', async () => {
    const target = '/groups?name=rolled'
    expect(await found(target)).toEqual([0, []])
    const undone = core.db.transaction(async (tx) => {
      await tx.execute(
        sql`insert into groups (domain_id, name) select id, 'Rolled back' from domains limit 1`,
      )
      expect(await found(target)).toEqual([0, []])
      throw new Error('roll back')
    })
    await expect(undone).rejects.toThrow('roll back')
    expect(await found(target)).toEqual([0, []])
    await group(core.db, 'Rolled forward', [])
    expect(await found(target)).toEqual([1, ['Rolled forward']])
  })
})

describe('a search', () => {
  beforeAll(async () => {
    const domain = sql`(select id from domains limit 1)`
    await core.db.execute(sql`insert into users (domain_id, email, given_name, family_name) values
      (${domain}, 'Zoe_1@x.example', 'Zoe', 'O''Neil'), (${domain}, 'zo%2@x.example', 'Z', ${'a\\b'}),
      (${domain}, 'li@x.example', 'Li', ${'x\u0001y'})`)
  })

  test.each([
    ['zoe', ['Zoe_1@x.example']],
    ['ZO', ['Zoe_1@x.example', 'zo%2@x.example']],
    ['_1', ['Zoe_1@x.example']],
    ['o%2', ['zo%2@x.example']],
    ['a\\b', ['zo%2@x.example']],
    ["zoe o'n", ['Zoe_1@x.example']],
    ['li x', ['li@x.example']],
    // The separator between address and name in the database cannot be searched for.
    ['example\u0001z', []],
    ['x\u0001y', ['li@x.example']],
    ['example zoe', []],
  ])('for %j finds %j', async (term, emails) => {
    expect(await found(`/users?search_term=${encodeURIComponent(term)}`)).toEqual([
      emails.length,
      emails,
    ])
  })
})

test('pages contain no row twice and keep their order, cached or not, to the last one', async () => {
  await core.db.execute(sql`insert into groups (domain_id, name, integration_specific_id)
    select (select id from domains limit 1), 'Same name ' || n / 7, 'same' from generate_series(1, 10250) n`)
  for (const filter of ['name=same', 'integration_specific_id=same', 'name=Same%20name']) {
    const ids: string[] = []
    const names: string[] = []
    for (let page = 1; page <= 104; page += 1) {
      // The last cached pages, the first that are not cached, and the one past the end.
      if (page > 4 && page < 98) continue
      const { items, total, pages } = await list(`/groups?${filter}&size=100&page=${page}`)
      expect({ total, pages }).toEqual({ total: 10_250, pages: 103 })
      expect(items).toHaveLength([100, 50, 0][Math.max(0, page - 102)] ?? 100)
      ids.push(...items.map(({ id }: { id: string }) => id))
      names.push(...items.map(({ name }: { name: string }) => name))
    }
    expect(new Set(ids).size).toBe(ids.length)
    expect(names).toEqual([...names].sort())
  }
})

test('a filter with very many matches shows their total and the first of them after each change', async () => {
  const domainId = await domainOf(core.db)
  await core.db.execute(sql`
    insert into groups (domain_id, name)
    select ${domainId}, 'many ' || lpad(n::text, 6, '0') from generate_series(1, 100500) n`)
  const owner = new Client(await core.login())
  await owner.connect()
  // Without statistics the planner expects few rows.
  for (const analyze of [false, true]) {
    if (analyze) await owner.query('analyze groups')
    await group(core.db, `many ${analyze ? '000000b' : '000000a'}`, [])
    const [total, names] = await found('/groups?name=many&size=3')
    const first = [
      'many 000000a',
      ...(analyze ? ['many 000000b'] : []),
      'many 000001',
      'many 000002',
    ]
    expect([total, names]).toEqual([100_501 + (analyze ? 1 : 0), first.slice(0, 3)])
  }
  await owner.query(`delete from groups where name like 'many %'`)
  await owner.end()
})

test('equal versions have equal rows, and totals are exact, during concurrent writes and folds', async () => {
  const seen = new Map<string, string>()
  let writing = true
  const write = async (who: number) => {
    for (let n = 0; n < 60; n += 1) {
      const work = core.db.transaction(async (tx) => {
        await tx.execute(sql`insert into groups (domain_id, name)
          select id, ${`busy ${who} ${n % 5}`} from domains, generate_series(1, 3)`)
        await tx.execute(
          sql`update groups set description = ${String(n)} where name = ${`busy ${who} ${n % 3}`}`,
        )
        await tx.execute(sql`delete from groups where name = ${`busy ${who} ${(n + 2) % 5}`}`)
        if (n % 4 === 0) throw new Error('roll back')
      })
      await work.catch(({ message }: Error) => expect(message).toBe('roll back'))
    }
  }
  let looks = 0
  const read = async () => {
    while (writing) {
      await inSnapshot(core.db, async (tx) => {
        const domain = (
          await tx.execute<{ id: string }>(sql`select id from domains where name = 'default'`)
        ).rows[0]
        const versions = await readVersions(tx, ['groups'], domain?.id ?? '', () => undefined)
        const { rows } = await tx.execute<{ n: string; digest: string }>(sql`select count(*) as n,
          md5(string_agg(id || name || description, ',' order by id)) as digest from groups`)
        expect(versions.rows('groups')).toBe(Number(rows[0]?.n))
        const digest = rows[0]?.digest ?? ''
        expect(seen.get(versions.version ?? '') ?? digest).toBe(digest)
        seen.set(versions.version ?? '', digest)
        looks += 1
      })
    }
  }
  const fold = async () => {
    while (writing) await foldChanges(core.db)
  }
  const readers = [read(), read(), read(), fold(), fold()]
  await Promise.all([0, 1, 2, 3].map(write))
  writing = false
  await Promise.all(readers)
  expect(looks).toBeGreaterThan(10)
  expect(seen.size).toBeGreaterThan(5)
  const busy = await list('/groups?name=busy')
  const { rows } = await core.db.execute(
    sql`select count(*)::int as n from groups where name like 'busy%'`,
  )
  expect(busy.total).toBe(rows[0]?.['n'])
})

test('changes are folded when there are many, which leaves the totals the same', async () => {
  const before = (await list('/groups')).total
  for (let n = 0; n < 600; n += 1)
    await core.db.update(groups).set({ description: 'x' }).where(eq(groups.name, 'Same name 1'))
  expect((await list('/groups')).total).toBe(before)
  const parts = () => core.db.$count(tableChanges, eq(tableChanges.tableName, 'groups'))
  for (let tries = 0; (await parts()) > 100 && tries < 100; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 20))
  expect(await parts()).toBeLessThan(100)
  expect((await list('/groups')).total).toBe(before)
})

test('a truncated table is listed as empty', async () => {
  // The role of the host may not truncate.
  const owner = new Client(await core.login())
  await owner.connect()
  await owner.query('truncate groups cascade')
  await owner.end()
  expect(await list('/groups')).toMatchObject({ total: 0, items: [] })
})

describe('a list as CSV', () => {
  const PEOPLE = 1300
  const CSV = { accept: 'text/csv' }
  const send = (target: string) =>
    core.host.app.request(target, {
      headers: { ...CSV, host: 'localhost', authorization: `Bearer ${ADMIN_TOKEN}` },
    })
  const emailsOf = (text: string) =>
    (parse(text, { columns: true }) as { email: string }[]).map(({ email }) => email)

  beforeAll(async () => {
    const domainId = await domainOf(core.db)
    const given = (n: number) => `${n % 3 === 0 ? '=' : ''}p${n}`
    await core.db.insert(users).values(
      Array.from({ length: PEOPLE }, (_, n) => ({
        ...{ domainId, email: `csv${String(n).padStart(5, '0')}@example.com` },
        ...{ givenName: given(n), familyName: 'Csv' },
      })),
    )
  })

  test('is the whole list in its order, even if a page is requested', async () => {
    const { status, headers, body } = await core.call(
      'GET',
      '/users?search_term=csv&page=2&size=5',
      {
        headers: CSV,
      },
    )
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(headers.get('content-disposition')).toBe('attachment; filename="users.csv"')
    const rows: { email: string; given_name: string }[] = parse(body, { columns: true })
    const paged: { email: string; given_name: string }[] = []
    for (let page = 1; paged.length < PEOPLE; page += 1)
      paged.push(...(await list(`/users?search_term=csv&size=100&page=${page}`)).items)
    expect(rows.map(({ email }) => email)).toEqual(paged.map(({ email }) => email))
    expect(rows[0]?.given_name).toBe("'=p0")
    expect(rows[1]?.given_name).toBe('p1')
  })

  test('is a snapshot of its beginning, regardless of later writes', async () => {
    const reply = await send('/users?search_term=csv')
    await core.db.delete(users).where(eq(users.email, 'csv01299@example.com'))
    expect(emailsOf(await reply.text())).toHaveLength(PEOPLE)
    const after = await core.call('GET', '/users?search_term=csv', { headers: CSV })
    expect(emailsOf(after.body)).toHaveLength(PEOPLE - 1)
  })

  test('occupies its slot only as long as it is read', async () => {
    const open = await Promise.all(Array.from({ length: 4 }, () => send('/users?search_term=csv')))
    const refused = await send('/users?search_term=csv')
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('5')
    for (const reply of open) await reply.body?.cancel()
    await until('another list can be read', async () => {
      const reply = await send('/groups')
      await reply.text()
      return reply.status === 200
    })
  })

  test('is refused as usual when the query is invalid or not allowed', async () => {
    expect((await send('/users?size=x')).status).toBe(422)
    const { status, body } = await core.call('GET', '/findings', { token: ada.token, headers: CSV })
    expect([status, typeof body.detail]).toEqual([403, 'string'])
  })
})
