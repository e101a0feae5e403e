/**
 * `npm run bench:lists`: reads every list of the core interface, with every filter, search and order that it
 * has, page by page, in a large company. The whole host answers, without a socket: token, rate limit, query,
 * validation, JSON text. Prints for each row
 *
 *   first    the first page after a change of the tables, when nothing of the list is cached
 *   p50 ...  its first hundred pages of a hundred, read `PASSES` times (5), including the first page: in a
 *            single pass, the p99 would be one request
 *   changing the same, once, while another connection changes a row before every tenth page
 *   1,000th, 10,000th  pages at that depth
 *
 * and finally the number of rows whose p99 is above the goal.
 *
 * `ROWS` is the number of users (1,000,000); all other sizes follow from it. `KEEP` names a data directory
 * that is filled once and reused by the next run. `ONLY` selects rows by a part of their names.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'drizzle-orm'
import { readConfig } from '../../runtime/config/config.ts'
import type { Db } from '../../runtime/database/database.ts'
import { createHost } from '../../runtime/main.ts'
import { createLog } from '../../runtime/observe/log.ts'
import { forgetDatabase } from '../database/forget.ts'
import { fill, settle } from './fill.ts'

const ROWS = Number(process.env['ROWS'] ?? 1_000_000)
const ONLY = process.env['ONLY'] ?? ''
const GOAL_MS = 20
const PAGES = 100
const PASSES = Number(process.env['PASSES'] ?? 5)
const SIZE = 100
const TOKEN = `lsk_${'bench'.repeat(8)}`

const md5 = (text: string): string => `md5('${text}')`
const UUID = { group1: '', group2: '', group9: '', user1: '', user77: '', app7: '', request9: '' }

/** The rows: a path with its query, and the table that is changed in between. One line each. */
const lists = (id: typeof UUID): [query: string, changed: string][] => [
  ['/users?', 'users'],
  ['/users?expand=custom_attributes', 'users'],
  ['/users?search_term=lovelace.1234', 'users'],
  ['/users?search_term=grace+hopper', 'users'],
  ['/users?search_term=hopper', 'users'],
  ['/users?search_term=Ada', 'users'],
  ['/users?search_term=partner', 'users'],
  ['/users?search_term=example', 'users'],
  ['/users?search_term=a', 'users'],
  ['/users?search_term=zh', 'users'],
  ['/users?search_term=z', 'users'],
  ['/users?search_term=%25', 'users'],
  ['/users?search_term=nobody+of+this+name', 'users'],
  ['/users?search_term=grace+hopper&exact_match=true', 'users'],
  ['/users?search_term=admin@localhost&exact_match=true', 'users'],
  ['/groups?', 'groups'],
  ['/groups?name=eng', 'groups'],
  ['/groups?name=e', 'groups'],
  ['/groups?name=Sales+1001&exact_match=true', 'groups'],
  ['/groups?integration_specific_id=g-77', 'groups'],
  [`/groups?app_id=${id.app7}`, 'groups'],
  [`/groups/${id.group1}/users?`, 'group_members'],
  [`/groups/${id.group2}/users?`, 'group_members'],
  [`/groups/${id.group9}/users?`, 'group_members'],
  ['/tasks?', 'tasks'],
  ['/tasks?expand=actions&expand=assignees', 'tasks'],
  ...['', 'createdAt', 'taskType', 'app', 'targetUser'].flatMap((sort) =>
    ['asc', 'desc'].map((direction): [string, string] => [
      `/tasks?show_all_tasks=true&sort_by=${sort}&sort_direction=${direction}`,
      'tasks',
    ]),
  ),
  ...[
    'expand=actions&expand=assignees',
    'task_category=APPROVAL',
    'status=PENDING',
    'task_type=OFFBOARDING',
    'product_area=APPSTORE',
    'task_category=APPROVAL&product_area=APPSTORE&status=PENDING',
    'status=PENDING&sort_by=app&sort_direction=asc',
    'search=access',
    'search=request+99',
    'search=application+77',
    'search=a',
    'search=nothing+at+all',
    `assigned_identity_ids=${id.user1}`,
    `assigned_identity_ids=${id.user77}`,
    `assigned_group_ids=${id.group2}`,
    `access_request_id=${id.request9}`,
    'task_type=NONE',
  ].map((query): [string, string] => [`/tasks?show_all_tasks=true&${query}`, 'tasks']),
  ['/activity_logs?', 'activity_logs'],
  ['/activity_logs?since=2025-03-01', 'activity_logs'],
  ['/activity_logs?until=2025-09-01', 'activity_logs'],
  ['/activity_logs?since=2025-03-01&until=2025-03-08', 'activity_logs'],
]

type Figures = { first: number; p50: number; p99: number; max: number }
type Row = Figures & { name: string; total: number; changing: Figures; deep: (number | null)[] }

const keep = process.env['KEEP']
const dataDir = keep ?? (await mkdtemp(path.join(tmpdir(), 'keyway-bench-')))
const mark = path.join(dataDir, 'bench.filled')
const filled = existsSync(mark)
const config = readConfig({
  KEYWAY_DATA_DIR: dataDir,
  KEYWAY_DROP_IN: 'off',
  KEYWAY_ADMIN_TOKEN: TOKEN,
  KEYWAY_LOG_LEVEL: 'silent',
  KEYWAY_REQUESTS_PER_MINUTE: '1000000',
})
const host = await createHost(config, createLog('silent'))
await host.databaseReady
const db = host.db() as Db
const tell = (text: string) => process.stderr.write(`\r\u001b[K${text}`)

async function ask(target: string): Promise<{ ms: number; total: number }> {
  const begun = performance.now()
  const reply = await host.app.request(target, {
    headers: { host: 'localhost', authorization: `Bearer ${TOKEN}` },
  })
  const text = await reply.text()
  const ms = performance.now() - begun
  if (reply.status !== 200) throw new Error(`${target}: ${reply.status} ${text}`)
  return { ms, total: JSON.parse(text).total }
}

const pageOf = (query: string, page: number): string =>
  query.startsWith('/activity_logs')
    ? `${query}&limit=${SIZE}&offset=${(page - 1) * SIZE}`
    : `${query}&page=${page}&size=${SIZE}`

function figuresOf(taken: number[]): Figures {
  const sorted = [...taken].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
  return { first: taken[0] ?? 0, p50: at(0.5), p99: at(0.99), max: at(1) }
}

/** A change that alters no list, which a reader can only find out by querying. */
const change = (table: string) =>
  db.execute(
    table === 'activity_logs'
      ? // This table is append-only.
        sql`insert into activity_logs (domain_id, event_hash, event_type, outcome, actor, targets, event_metadata)
          select domain_id, event_hash, event_type, outcome, actor, targets, event_metadata from activity_logs limit 1`
      : sql`update ${sql.identifier(table)} set domain_id = domain_id where ctid = (select ctid from ${sql.identifier(table)} limit 1)`,
  )

async function pages(
  query: string,
  passes: number,
  before: (page: number) => Promise<unknown>,
): Promise<Figures> {
  const taken: number[] = []
  for (let pass = 0; pass < passes; pass += 1)
    for (let page = 1; page <= PAGES; page += 1) {
      await before(page)
      taken.push((await ask(pageOf(query, page))).ms)
    }
  return figuresOf(taken)
}

async function measure([query, changed]: [string, string]): Promise<Row> {
  await change(changed)
  const figures = await pages(query, PASSES, async () => undefined)
  const { total } = await ask(pageOf(query, 1))
  const changing = await pages(query, 1, async (page) => {
    if (page % 10 === 0) await change(changed)
  })
  const deep = []
  for (const page of [1000, 10_000])
    deep.push((page - 1) * SIZE < total ? (await ask(pageOf(query, page))).ms : null)
  return { name: query.replace(/[?&]$/, ''), total, ...figures, changing, deep }
}

try {
  const begun = performance.now()
  if (!filled) {
    const sizes = { users: ROWS, groups: Math.max(20, ROWS / 500), tasks: ROWS / 10, logs: ROWS }
    await fill(db, sizes, tell)
    console.log(`\nfilled in ${((performance.now() - begun) / 1000).toFixed(0)} s`)
    await writeFile(mark, '')
  }
  await settle(dataDir)
  for (const name of Object.keys(UUID) as (keyof typeof UUID)[]) {
    const { rows } = await db.execute<{ id: string }>(sql.raw(`select ${md5(name)}::uuid as id`))
    UUID[name] = rows[0]?.id ?? ''
  }
  const rows: Row[] = []
  for (const list of lists(UUID)) {
    if (!list[0].includes(ONLY)) continue
    tell(list[0])
    rows.push(await measure(list))
  }
  tell('')
  rows.sort((a, b) => b.p99 - a.p99)
  const cell = (ms: number | null) => (ms === null ? '-' : ms.toFixed(1)).padStart(9)
  console.log(
    `${'list'.padEnd(72)}    total    first      p50      p99      max | changing: p50    p99 |  1,000th 10,000th   (ms)`,
  )
  for (const { name, total, first, p50, p99, max, changing, deep } of rows) {
    const shown = name.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '{id}')
    console.log(
      shown.padEnd(72) +
        String(total).padStart(9) +
        [first, p50, p99, max].map(cell).join('') +
        ' |    ' +
        cell(changing.p50) +
        cell(changing.p99) +
        ' |' +
        deep.map(cell).join(''),
    )
  }
  const over = rows.filter(({ p99 }) => p99 > GOAL_MS).length
  console.log(`\n${over} of ${rows.length} rows have a p99 above ${GOAL_MS} ms`)
  // Figures from a busy machine are not meaningful.
  console.log(
    `load of the machine: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}`,
  )
} finally {
  await host.stop()
  if (keep === undefined) {
    await forgetDatabase(dataDir)
    await rm(dataDir, { recursive: true, force: true })
  }
}
