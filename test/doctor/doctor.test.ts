/** `keyway doctor` on a real host and its database: in good health, with problems, and with the host down. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type ServerType, serve } from '@hono/node-server'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DOCTOR_CHECK_NAMES, type Doctor } from '../../runtime/contract/endpoints/doctor.ts'
import { isRoot } from '../../runtime/database/server-home.ts'
import { OUTSIDE } from '../../runtime/database/server-place.ts'
import { ADMIN_TOKEN, app, type CoreHost, domainOf, SECRET, startCore } from '../core/host.ts'
import { run } from '../e2e/command.ts'
import { until } from '../e2e/until.ts'
import { shows } from '../symptoms.ts'

let core: CoreHost
let server: ServerType
let env: Record<string, string>

beforeAll(async () => {
  core = await startCore({ KEYWAY_SECRET: `${SECRET},${'older-'.repeat(10)}` }, { server: 'own' })
  server = serve({ fetch: core.host.app.fetch, port: 0, hostname: '127.0.0.1' })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  env = {
    KEYWAY_DATA_DIR: core.dataDir,
    KEYWAY_ADMIN_TOKEN: ADMIN_TOKEN,
    PORT: String(port),
  }
  await until('the first removal job is completed', async () => {
    const { body } = await core.call('GET', '/operator/jobs?queue=retention&state=completed')
    return body.items.length > 0
  })
})
afterAll(async () => {
  server.close()
  await core.stop()
})

const asked = async (): Promise<Doctor> => (await core.call('GET', '/operator/doctor')).body
const found = (answer: Doctor, check: string) => {
  const {
    state,
    what = '',
    advice = null,
  } = answer.findings.find((one) => one.check === check) ?? {}
  return `${state}: ${what}${advice === null ? '' : ` (${advice})`}`
}

test('a new host reports every check, and most of them as good', async () => {
  const answer = await asked()
  expect(answer.findings.map(({ check }) => check).sort()).toEqual(
    DOCTOR_CHECK_NAMES.filter((name) => name !== 'host').sort(),
  )
  for (const check of [
    'set_aside',
    'unfinished',
    'bundles',
    'tables',
    'retention',
    'clock',
    'apps',
  ])
    expect(found(answer, check)).toMatch(/^good: /)
  expect(found(answer, 'generations')).toMatch(/^good: \d+ generations, .* packages/)
  expect(found(answer, 'backup')).toMatch(
    /^look: no backup has been made since .* \(run `keyway backup/,
  )
  expect(found(answer, 'disk')).toContain(`are free at ${core.dataDir}`)
  // An older secret is configured, and page tokens made with it may be in use for a day.
  expect(found(answer, 'rotation')).toMatch(
    /^look: \d+ tokens, sessions and sealed values .* page tokens until/,
  )
  expect(answer.tables.map(({ table }) => table)).toContain('activity_logs')
  for (const { table, kept } of answer.tables) expect(kept, table).not.toBe('')
})

test('expired rows, overdue jobs and paused apps are reported with advice', async () => {
  const domainId = await domainOf(core.db)
  const desk = await app(core.db, 'Desk')
  await core.db.execute(sql`
    insert into sync_runs (app_id, domain_id, page_size, state, created_at, ended_at)
    select ${desk}, ${domainId}, 100, 'SUCCEEDED', now() - interval '200 days', now() - interval '200 days'
    from generate_series(1, 10300)`)
  await core.db.execute(sql`
    insert into app_outages (app_id, domain_id, since, until, code, problem)
    values (${desk}, ${domainId}, '2026-01-02T03:04:05Z', now() + interval '1 hour', 'upstream_unavailable', 'no')`)
  await core.db.execute(sql`
    update jobs.job set completed_on = now() - interval '5 hours' where name = 'retention'`)
  await core.db.execute(sql`
    insert into jobs.job (name, data, start_after, policy)
    values ('dead', '{}', now() - interval '2 hours', 'standard')`)
  const answer = await asked()
  const runs = answer.tables.find(({ table }) => table === 'sync_runs')
  expect(runs).toMatchObject({ kept_days: 90, over: 10_000 })
  expect(runs?.rows).toBeGreaterThanOrEqual(10_000)
  expect(found(answer, 'tables')).toMatch(/^look: .* wait to be removed from sync_runs \(wait: /)
  expect(found(answer, 'retention')).toMatch(/^act: .* last removed 5 hours ago/)
  expect(found(answer, 'apps')).toContain(`Desk (${desk}) since 2026-01-02T03:04:05Z`)
  expect(found(answer, 'jobs')).toMatch(
    /^act: the oldest due job is in queue dead, overdue by 2 hours/,
  )

  const { code, output } = await run(['doctor'], { env })
  shows('jobs accumulate', output)
  shows('the disk fills', output)
  expect(output).toMatch(/^ok {4}host: the host answers$/m)
  expect(output).toMatch(/^ACT {3}retention: .*\n {8}`keyway jobs --queue retention`/m)
  expect(output).toMatch(
    /sync_runs: \d+ rows, .* kept 90 days .* 10000 expired rows wait to be removed/,
  )
  expect(code).toBe(1)
})

test('files left in the data directory are reported once they are old, and so is an old backup', async () => {
  const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000)
  const left = path.join(core.dataDir, 'run', 'uploads', '0.tgz')
  await mkdir(path.dirname(left), { recursive: true })
  await writeFile(left, 'x')
  expect(found(await asked(), 'unfinished')).toMatch(/^good/)
  await utimes(left, twoDaysAgo, twoDaysAgo)
  expect(found(await asked(), 'unfinished')).toContain(left)
  await writeFile(
    path.join(core.dataDir, 'last-backup'),
    JSON.stringify({
      complete_until: new Date(Date.now() - 3 * 86_400_000).toISOString(),
      bytes: 5,
    }),
  )
  expect(found(await asked(), 'backup')).toMatch(/^act: the last backup was made 3 days ago/)
})

test('without a host, the disk is checked, and the command says that no host answers', async () => {
  const { output, code } = await run(['doctor', '--json'], { env: { ...env, PORT: '1' } })
  const answer = JSON.parse(output) as Doctor
  expect(found(answer, 'host')).toMatch(/^act: .* No Keyway answers at http:\/\/127\.0\.0\.1:1/)
  expect(found(answer, 'disk')).toContain('are free at')
  expect(answer.tables).toEqual([])
  expect(code).toBe(1)
  const none = await run(['doctor'], { env: { PORT: '1', KEYWAY_DATA_DIR: '/nowhere/at/all' } })
  expect(none.output).toMatch(/no data directory \/nowhere\/at\/all .*KEYWAY_DATA_DIR/)
  const other = await run(['doctor', '--url', 'http://127.0.0.1:1'], { env })
  expect(other.output).toMatch(/^No Keyway answers/)
})

test.skipIf(!isRoot())(
  'a left-over database is removed only with --remove-clusters and --yes',
  async () => {
    const gone = await mkdtemp(path.join(tmpdir(), 'keyway-doctor-gone-'))
    await rm(gone, { recursive: true })
    const place = `d0c${Date.now().toString(16).padStart(13, '0')}`
    const folder = path.join(OUTSIDE, place)
    await mkdir(path.join(folder, 'cluster'), { recursive: true })
    await writeFile(path.join(folder, 'data-directory'), gone)
    const old = new Date(Date.now() - 7_200_000)
    for (const one of ['cluster', 'data-directory']) await utimes(path.join(folder, one), old, old)
    try {
      const named = ['doctor', '--remove-clusters', place]
      const [dry, unsaid] = await Promise.all([
        run([...named, '--dry-run'], { env }),
        run(named, { env }),
      ])
      expect(dry).toMatchObject({ code: 0, output: expect.stringContaining(`${folder}, `) })
      expect(unsaid).toMatchObject({ code: 1 })
      expect(unsaid.output).toMatch(/^Nothing was removed; --yes/)
      expect(existsSync(folder)).toBe(true)
      expect((await run([...named, '--yes'], { env })).output).toContain('Removed 1 left-over')
      expect(existsSync(folder)).toBe(false)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
)
