/**
 * `npm run bench:pages`: every page for people, in a company of a hundred thousand people with a million
 * associations and a review of them: time to first byte (pages are sent whole, so also to the last byte),
 * processor time, and compressed size including style sheet and script. Writes a section of RESULTS.md.
 *
 * `ROWS` (1,000,000 associations) changes the size; only a full run is written. `ONLY` selects pages by a
 * part of their names, `PASSES` (200) is the number of requests for each.
 */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { sql } from 'drizzle-orm'
import { progressLine } from '../../runtime/cli/terminal/progress.ts'
import { ADMIN_TOKEN, app, startCore } from '../core/host.ts'
import { company } from '../core/requests/company.ts'
import { pagePaths } from '../http/page-paths.ts'
import { signedIn, visit } from '../http/settings/visitor.ts'
import { fill, settle } from './fill.ts'
import { fillReviews } from './fill-reviews.ts'
import { loadWords, machineWords } from './machine.ts'
import { place, sectionText } from './report.ts'
import { callerOf } from './request-lives.ts'
import { quantile } from './statistics.ts'

const ROWS = Number(process.env['ROWS'] ?? 1_000_000)
const WHOLE = ROWS === 1_000_000
const USERS = Math.max(1000, ROWS / 10)
const PASSES = Number(process.env['PASSES'] ?? 200)
const ONLY = process.env['ONLY'] ?? ''
const GOAL_MS = 100
const MAX_KB = 60
const RESULTS = path.join(import.meta.dirname, 'RESULTS.md')

const line = progressLine()
const tell = (text: string) => line.show(text)
const load = loadWords()
const core = await startCore({ KEYWAY_REQUESTS_PER_MINUTE: '1000000' })
const { db } = core
const call = callerOf(core, ADMIN_TOKEN)

type Row = { name: string; p50: number; p99: number; cpu: number; kB: number }

try {
  await core.host.settled
  const appId = await company(core).inStore(await app(db, 'Large'))
  await fill(db, { users: USERS, groups: USERS / 100, tasks: USERS / 10, logs: USERS }, tell)
  await fillReviews(db, { appId, users: USERS, items: ROWS }, tell)
  await settle(core.dataDir)
  const reviewId = await launchReview(appId)
  // Not earlier: the review is launched over connected apps, and no connector answers here.
  await db.execute(sql`update apps set connector_id = 'scim' where id = ${appId}`)
  await settle(core.dataDir)
  const { rows: known } = await db.execute<Record<string, string>>(sql`
    select md5('user77')::uuid::text as user_id, ${appId}::text as app_id, ${reviewId}::text as access_review_id`)
  const params = {
    ...known[0],
    connector_id: 'scim',
    app_class_id: 'scim',
    ask: '',
    task: await newTask(),
  }
  const paths = pagePaths(params)
  // Its speed depends on the server that it is loaded from.
  paths.delete('registry')
  paths.set('ask', `/access/request?app_id=${appId}`)
  paths.set('people, searched', '/console/people?search_term=hopper')
  paths.set('log, by event', '/console/log?event_type=USER_ROLE_ADDED')
  paths.set('lines, searched', `/console/reviews/${reviewId}?search=account-77`)
  const visitor = await signedIn(core)
  const shared = await totalSize(['/assets/keyway.css', '/assets/keyway.js'])
  const rows: Row[] = []
  for (const [name, at] of paths) {
    if (!name.includes(ONLY)) continue
    tell(name)
    rows.push(await measured(name, at, shared))
  }
  line.clear()
  rows.sort((a, b) => b.p99 - a.p99)
  const section = report(rows)
  console.log(sectionText(section))
  if (WHOLE && ONLY === '')
    await writeFile(RESULTS, place(await readFile(RESULTS, 'utf8'), section))

  async function measured(name: string, at: string, shared: number): Promise<Row> {
    // A signed-in person is redirected from there.
    const who = name === 'way_in' ? visit(core) : visitor
    const first = await who.get(at)
    if (first.status !== 200) {
      console.error(`${at} gave ${first.status}`)
      process.exitCode = 1
    }
    const taken: number[] = []
    const begun = process.cpuUsage()
    for (let pass = 0; pass < PASSES; pass += 1) {
      const beganMs = performance.now()
      await who.get(at)
      taken.push(performance.now() - beganMs)
    }
    const { user, system } = process.cpuUsage(begun)
    taken.sort((a, b) => a - b)
    return {
      name,
      ...{ p50: quantile(taken, 0.5), p99: quantile(taken, 0.99) },
      cpu: (user + system) / 1000 / PASSES,
      kB: (gzipSync(first.text).length + shared) / 1000,
    }
  }

  async function totalSize(paths: readonly string[]): Promise<number> {
    const texts = await Promise.all(paths.map((one) => visitor.get(one)))
    return texts.reduce((sum, { text }) => sum + gzipSync(text).length, 0)
  }
} finally {
  await core.stop()
}

async function newTask(): Promise<string> {
  const { rows } = await db.execute<{ id: string }>(sql`
    select t.id from tasks t join task_assignees a on a.task_id = t.id
    join users u on u.id = a.user_id where u.email = 'admin@localhost' and t.status = 'PENDING' limit 1`)
  return rows[0]?.id ?? ''
}

async function launchReview(appId: string): Promise<string> {
  const deadline_at = '2999-01-01T00:00:00Z'
  const body = { name: 'All of it', deadline_at, apps: [{ id: appId }] }
  const made = (await call('POST', '/access_reviews', body)) as { access_review: { id: string } }
  const { id } = made.access_review
  for (;;) {
    const { status } = (await call('GET', `/access_reviews/${id}`)) as { status: string }
    if (status === 'IN_PROGRESS') return id
    const { rows } = await db.execute<{ problem: string | null }>(
      sql`select problem from access_review_apps where review_id = ${id}`,
    )
    const problem = rows[0]?.problem
    if (problem) throw new Error(`the review was not launched: ${problem}`)
    tell('launch')
    await pause(200)
  }
}

function report(rows: readonly Row[]) {
  const slowest = Math.max(...rows.map(({ p99 }) => p99))
  const heaviest = Math.max(...rows.map(({ kB }) => kB))
  return {
    part: 'pages',
    title: 'Pages for people in a large company',
    setting: `${USERS.toLocaleString('en')} people with ${ROWS.toLocaleString('en')} associations, and a review of all of them. ${machineWords()}; load before: ${load}, after: ${loadWords()}. The host answers without a socket; the caller and the database share the machine.`,
    findings: {
      judged: [
        {
          what: `first byte of a page, ${PASSES} times: slowest p99`,
          figure: `${slowest.toFixed(1)} ms`,
          goal: `< ${GOAL_MS} ms`,
          met: slowest < GOAL_MS,
        },
        {
          what: 'a page with its sheet and its script, compressed: heaviest',
          figure: `${heaviest.toFixed(1)} kB`,
          goal: `≤ ${MAX_KB} kB`,
          met: heaviest <= MAX_KB,
        },
      ],
      tables: [
        {
          title:
            'Milliseconds to the first byte, of processor time, and kilobytes with sheet and script',
          columns: ['page', 'p50', 'p99', 'processor', 'kB'],
          rows: rows.map(({ name, p50, p99, cpu, kB }) => [
            name,
            ...[p50, p99, cpu, kB].map((value) => value.toFixed(1)),
          ]),
        },
      ],
      notes: [],
    },
  }
}
