/** How many connections hosts take, and whether PostgreSQL allows them: on real hosts with one database. */
import { sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  compareConnections,
  connectionsOf,
} from '../../../../runtime/core/kernel/deployment/connection-budget.ts'
import {
  CONNECTIONS_PER_HOST,
  MAX_CONNECTIONS_PER_HOST,
} from '../../../../runtime/database/connections.ts'
import { until } from '../../../e2e/until.ts'
import { shows } from '../../../symptoms.ts'
import { type CoreHost, startCore } from '../../host.ts'

let core: CoreHost
let owner: Client

beforeAll(async () => {
  core = await startCore({}, { server: 'own' })
  owner = new Client({ ...(await core.login()), application_name: 'the test' })
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await core.stop()
})

/** Connections of the hosts, by purpose. */
async function taken(): Promise<Record<string, number>> {
  const { rows } = await owner.query(
    `select application_name as name, count(*)::int as n from pg_stat_activity
     where application_name like 'keyway%' group by 1`,
  )
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]))
}

const finding = async (of: CoreHost) => {
  const { findings } = (await of.call('GET', '/operator/doctor')).body
  return findings.find(({ check }: { check: string }) => check === 'connections')
}

test('a busy host takes the connections that CONNECTIONS_PER_HOST declares, and no more', async () => {
  const { pool, listening, watching } = CONNECTIONS_PER_HOST
  const questions = Array.from({ length: 2 * pool }, async () => {
    await core.db.execute(sql`select pg_sleep(1)`)
  })
  await expect
    .poll(taken, { timeout: 20_000 })
    .toEqual({ keyway: pool, 'keyway listening': listening, 'keyway watching': watching })
  await Promise.all(questions)
})

describe('the connections that PostgreSQL allows', () => {
  test('are enough for one host with the embedded server, as the doctor reports', async () => {
    expect(await finding(core)).toMatchObject({
      state: 'good',
      what: expect.stringMatching(/^this host may open 32 .* allows 57 \(max_connections 60, 3/),
    })
    expect(core.lines.join('')).not.toContain('connections to PostgreSQL')
  })

  test('are too few for two hosts, as the doctor of both and the log of the second report', async () => {
    await until('the host is registered', async () => (await core.db.$count(sql`nodes`)) === 1)
    const two = await startCore({ DATABASE_URL: await core.url() })
    const words = /2 hosts may open 64 .* allows 57 .*at least 64, 32 for each host/
    expect(two.lines.filter((line) => words.test(line))).toHaveLength(1)
    await until('both hosts are registered', async () => (await core.db.$count(sql`nodes`)) === 2)
    const found = await finding(core)
    for (const { state, what, advice } of [found, await finding(two)])
      expect([state, `${what} ${advice}`]).toEqual(['act', expect.stringMatching(words)])
    shows('some requests are answered 503', found, two.lines)
    await two.stop()
  })

  test.each([
    ['alter role keyway_app connection limit', 'role'],
    ['alter database keyway connection limit', 'database'],
  ])('are also limited by %s', async (statement, what) => {
    await owner.query(`${statement} 20`)
    expect(await connectionsOf(core.db)).toMatchObject({
      enough: false,
      what: expect.stringContaining(`which allows 20 (the connection limit 20 of the ${what})`),
    })
    await owner.query(`${statement} -1`)
    expect((await connectionsOf(core.db)).enough).toBe(true)
  })

  test('are enough when there are exactly as many as needed', () => {
    const given = (connections: number) => ({ connections, limit: '' })
    expect(compareConnections(2, given(2 * MAX_CONNECTIONS_PER_HOST)).enough).toBe(true)
    expect(compareConnections(2, given(2 * MAX_CONNECTIONS_PER_HOST - 1)).enough).toBe(false)
  })
})
