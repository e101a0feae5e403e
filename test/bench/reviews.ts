/**
 * `npm run bench:reviews`: an access review of a million lines, in a company of a hundred thousand people:
 * its launch, the first pages of its lines by every filter, one bulk action on half of it, and its evidence,
 * written and verified. Writes a section of RESULTS.md.
 *
 * `ROWS` (1,000,000) changes the size; only a full run is written.
 */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type SQL, sql } from 'drizzle-orm'
import { progressLine } from '../../runtime/cli/terminal/progress.ts'
import { verifyEvidence } from '../../runtime/core/reviews/evidence/verify.ts'
import { longStatements } from '../../runtime/core/sync/runs.ts'
import { ADMIN_TOKEN, app, startCore } from '../core/host.ts'
import { fill, settle } from './fill.ts'
import { fillReviews } from './fill-reviews.ts'
import { loadWords, machineWords } from './machine.ts'
import { place, sectionText } from './report.ts'
import { callerOf } from './request-lives.ts'
import { median, quantile } from './statistics.ts'
import { createTimed } from './timed.ts'

const ROWS = Number(process.env['ROWS'] ?? 1_000_000)
const WHOLE = ROWS === 1_000_000
const USERS = Math.max(1000, ROWS / 10)
/** How often each of the first pages is read, and how many pages. */
const PASSES = 10
const PAGES = 20
const GOAL_MS = 30
/** The allowed growth of memory while a file is written or verified, in MiB. */
const GROWTH_MIB = 100
/** The allowed growth from the second quarter of a step to its last, where memory should be flat. */
const DRIFT_MIB = 50
const RESULTS = path.join(import.meta.dirname, 'RESULTS.md')

const LISTS = [
  '',
  'state=OPEN',
  'state=OPEN&arda_id={arda}',
  'state=KEPT',
  'state=REJECTED&state=TO_MODIFY',
  'hint=ACCOUNT_UNMATCHED',
  'hint=NOBODY_ASKED',
  'entitlement_id=g7',
  'user_id={user}',
  'search=account-77',
  'search=group+4',
  'mine=true&state=OPEN',
]

type Read = { list: string; total: number; first: number; p50: number; p99: number }

const line = progressLine()
const tell = (text: string) => line.show(text)
const load = loadWords()
const core = await startCore({ KEYWAY_REQUESTS_PER_MINUTE: '1000000' })
const { db } = core
const call = callerOf(core, ADMIN_TOKEN)
const { took, timed } = createTimed(tell)

try {
  await core.host.settled
  const appId = await app(db, 'Large')
  await fill(db, { users: USERS, groups: 20, tasks: 0, logs: 0 }, tell)
  await fillReviews(db, { appId, users: USERS, items: ROWS }, tell)
  await settle(core.dataDir)
  const deadline_at = '2999-01-01T00:00:00Z'
  const body = { name: 'All of it', deadline_at, apps: [{ id: appId }] }
  const id = await timed('launch', async () => {
    const made = (await call('POST', '/access_reviews', body)) as { access_review: { id: string } }
    return launchReview(made.access_review.id)
  })
  await settle(core.dataDir)
  const lists = await readLists(id)
  const rest = { decision: 'KEEP', reason: 'all of them', filter: { state: ['OPEN'] } }
  await db.execute(sql`
    update access_review_assignments set user_ids = user_ids || (select id from users where email = 'admin@localhost')`)
  const decided = (await timed('one act over all of it', () =>
    call('POST', `/access_reviews/${id}/items/decide`, rest),
  )) as { decided: number }
  await warmUp(id)
  const whole = await timed('evidence, written', () => taken(id))
  const { keys } = (await call('GET', '/.well-known/keyway-evidence-keys')) as {
    keys: { fingerprint: string }[]
  }
  const said = await timed('evidence, written and verified at once', async () =>
    verifyEvidence(await evidencePieces(id), keys[0]?.fingerprint ?? ''),
  )
  if (said.items !== ROWS || decided.decided !== ROWS)
    throw new Error(`${said.items} lines, ${decided.decided} decided`)
  line.clear()
  const section = report(lists, whole)
  console.log(sectionText(section))
  if (WHOLE) await writeFile(RESULTS, place(await readFile(RESULTS, 'utf8'), section))
} finally {
  await core.stop()
}

async function launchReview(id: string): Promise<string> {
  for (;;) {
    const { status } = (await call('GET', `/access_reviews/${id}`)) as { status: string }
    if (status === 'IN_PROGRESS') return id
    const { rows } = await db.execute<{ problem: string | null }>(
      sql`select problem from access_review_apps where review_id = ${id}`,
    )
    tell(`launch ${rows[0]?.problem ?? ''}`)
    await pause(200)
  }
}

async function evidencePieces(id: string): Promise<AsyncIterable<Buffer>> {
  const reply = await core.host.app.request(`/access_reviews/${id}/evidence`, {
    headers: { host: 'localhost', authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  if (reply.status !== 200 || !reply.body) throw new Error(await reply.text())
  const body = reply.body
  return (async function* () {
    for await (const piece of body) yield Buffer.from(piece)
  })()
}

async function taken(id: string): Promise<number> {
  let bytes = 0
  for await (const piece of await evidencePieces(id)) bytes += piece.length
  return bytes
}

/** Reads the start of the evidence once, so that the one-time cost of writing a file is not counted. */
async function warmUp(id: string): Promise<void> {
  let bytes = 0
  for await (const piece of await evidencePieces(id)) {
    bytes += piece.length
    if (bytes > 20 * 2 ** 20) break
  }
}

/** A statement over a part of all lines takes longer than the host's statement timeout. */
async function allLines(statement: SQL): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(longStatements)
    await tx.execute(statement)
  })
}

async function readLists(id: string): Promise<Read[]> {
  const { rows } = await db.execute<{ arda: string; user: string }>(sql`
    select id as arda, md5('user77')::uuid::text as user from access_review_apps where review_id = ${id}`)
  const { arda = '', user = '' } = rows[0] ?? {}
  // So that every list has rows.
  await allLines(
    sql`update access_review_items set state = 'KEPT' where review_id = ${id} and place % 10 = 1`,
  )
  await allLines(
    sql`update access_review_items set state = 'REJECTED' where review_id = ${id} and place % 50 = 2`,
  )
  await settle(core.dataDir)
  const read: Read[] = []
  for (const list of LISTS) {
    tell(list)
    const query = list.replace('{arda}', arda).replace('{user}', user)
    // The host can find out only by querying that nothing has changed.
    await db.execute(sql`update access_review_apps set domain_id = domain_id where id = ${arda}`)
    const ms: number[] = []
    let total = 0
    for (let pass = 0; pass < PASSES; pass += 1)
      for (let page = 1; page <= PAGES; page += 1) {
        const beganMs = performance.now()
        const at = `/access_reviews/${id}/items?size=100&page=${page}&${query}`
        total = ((await call('GET', at)) as { total: number }).total
        ms.push(performance.now() - beganMs)
      }
    const sorted = [...ms].sort((a, b) => a - b)
    const [first = 0] = ms
    read.push({ list, total, first, p50: median(ms), p99: quantile(sorted, 0.99) })
  }
  await allLines(sql`update access_review_items set state = 'OPEN' where review_id = ${id}`)
  return read
}

function report(lists: Read[], bytes: number) {
  const worst = Math.max(...lists.map(({ p99 }) => p99))
  const growth = Math.max(...took.map(({ growthMib }) => growthMib))
  const drift = Math.max(...took.map(({ driftMib }) => driftMib))
  const ms = (value: number) => value.toFixed(1)
  return {
    part: 'reviews',
    title: 'An access review of a million lines',
    setting: `${ROWS.toLocaleString('en')} lines of ${(ROWS / 10).toLocaleString('en')} accounts, reviewed by the managers of ${USERS.toLocaleString('en')} people. ${machineWords()}; load before: ${load}. The host answers without a socket; the caller and the database share the machine.`,
    findings: {
      judged: [
        {
          what: `first ${PAGES} pages of a list, ${PASSES} times: slowest p99`,
          figure: `${ms(worst)} ms`,
          goal: `< ${GOAL_MS} ms`,
          met: worst < GOAL_MS,
        },
        {
          what: 'memory that the host takes more, at most',
          figure: `${growth.toFixed(0)} MiB`,
          goal: `< ${GROWTH_MIB} MiB`,
          met: growth < GROWTH_MIB,
        },
        {
          what: 'the same from the second quarter of a step to its last, medians, at most',
          figure: `${drift.toFixed(0)} MiB`,
          goal: `flat: < ${DRIFT_MIB} MiB`,
          met: drift < DRIFT_MIB,
        },
      ],
      tables: [
        {
          title: `What took how long; the evidence has ${(bytes / 2 ** 20).toFixed(0)} MiB`,
          columns: [
            '',
            'seconds',
            'lines a second',
            'MiB more',
            'from the second quarter to the last',
          ],
          rows: took.map(({ what, seconds, growthMib, driftMib }) => [
            what,
            seconds.toFixed(1),
            Math.round(ROWS / seconds).toLocaleString('en'),
            growthMib.toFixed(0),
            driftMib.toFixed(0),
          ]),
        },
        {
          title:
            'Pages of a hundred lines, in ms: the first after a change, and the first twenty, ten times',
          columns: ['list', 'total', 'first', 'p50', 'p99'],
          rows: lists.map(({ list, total, first, p50, p99 }) => [
            list === '' ? 'all' : list,
            total.toLocaleString('en'),
            ...[first, p50, p99].map(ms),
          ]),
        },
      ],
      notes: [],
    },
  }
}
