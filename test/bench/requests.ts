/**
 * `npm run bench:requests`: the effect of a million old access requests on new ones. People request an app
 * whose access the operator's webhooks grant and revoke. They are approved, get access, and lose it all at
 * the same moment: in an empty company, and in one with a million requests and their tasks. Then reads pages
 * of the million as an admin, an admin of one app and a person. Writes a section of RESULTS.md.
 *
 * `ROWS` (1,000,000) and `LIVES` (400) in the environment change the size; only a full run is written.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { sql } from 'drizzle-orm'
import { progressLine } from '../../runtime/cli/terminal/progress.ts'
import { ADMIN_TOKEN, app, person } from '../core/host.ts'
import { startHooked } from '../core/requests/hooked.ts'
import { fill, settle } from './fill.ts'
import { fillRequests, madeId } from './fill-requests.ts'
import { loadWords, machineWords } from './machine.ts'
import { place, sectionText } from './report.ts'
import {
  type Caller,
  callerOf,
  callerOver,
  type Life,
  type Lives,
  runLives,
} from './request-lives.ts'
import { median, quantile } from './statistics.ts'

const ROWS = Number(process.env['ROWS'] ?? 1_000_000)
const LIVES = Number(process.env['LIVES'] ?? 400)
const WHOLE = ROWS === 1_000_000 && LIVES === 400
const USERS = Math.max(100, ROWS / 10)
const AT_ONCE = 16
/** How often each list is read. */
const READS = 20
const RESULTS = path.join(import.meta.dirname, 'RESULTS.md')

const LISTS = [
  '',
  'sort=DESC',
  'statuses=PENDING_APPROVAL',
  'statuses=COMPLETED&sort=DESC',
  'user_id={user}',
  'expand=tasks',
]

const line = progressLine()
const tell = (text: string) => line.show(text)
const load = loadWords()
const hooked = await startHooked()
const { core, acme } = hooked
const { db } = core

try {
  await core.host.settled
  const appId = await acme.inStore(await app(db, 'Application'), {}, await webhooks())
  const asker = callerOf(core, (await person(db, 'asker@acme.example', ['Admin'])).token)
  const approver = callerOf(core, ADMIN_TOKEN)
  const lives = () => runLives({ core, appId, asker, approver, count: LIVES, atOnce: AT_ONCE })
  tell('the first lives')
  // Warm-up: so that neither pays for one-time compilation or planning.
  await runLives({ core, appId, asker, approver, count: AT_ONCE, atOnce: AT_ONCE })
  const empty = await lives()
  await fill(db, { users: USERS, groups: 20, tasks: 0, logs: 0 }, tell)
  await fillRequests(db, { users: USERS, requests: ROWS }, tell)
  await settle(core.dataDir)
  tell('lives beside the others')
  const beside = await lives()
  const server = createServer(core.host.refuseOdd(getRequestListener(core.host.app.fetch)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const lists = await readLists(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  server.closeAllConnections()
  server.close()
  line.clear()
  const section = report(empty, beside, lists)
  console.log(sectionText(section))
  if (WHOLE) await writeFile(RESULTS, place(await readFile(RESULTS, 'utf8'), section))
} finally {
  await hooked.stop()
}

async function webhooks(): Promise<object> {
  return {
    provisioning_webhook: await hooked.hook('PROVISION'),
    access_removal_inline_webhook: await hooked.hook('DEPROVISION'),
  }
}

type Read = { who: string; query: string; total: number; first: number; median: number }

/** The first page of each list over HTTP, as seen by three people. */
async function readLists(url: string): Promise<Read[]> {
  const appAdmin = await person(db, 'app-admin@acme.example', ['App Admin'])
  await db.execute(
    sql`update apps set admin_user_ids = array[${appAdmin.id}::uuid] where id = ${madeId('app', 7)}`,
  )
  const who = await person(db, 'plain@acme.example')
  await db.execute(sql`update access_requests set target_user_id = ${who.id}, requester_id = ${who.id}
    where target_user_id = ${madeId('user', 77)}`)
  const callers: [string, Caller][] = [
    ['admin', callerOver(url, ADMIN_TOKEN)],
    ['admin of one app', callerOver(url, appAdmin.token)],
    ['person', callerOver(url, who.token)],
  ]
  const read: Read[] = []
  for (const [name, caller] of callers)
    for (const query of LISTS) {
      tell(`${name} ${query}`)
      // The host can find out only by querying that nothing has changed.
      await db.execute(
        sql`update access_requests set domain_id = domain_id where id = ${madeId('request', 9)}`,
      )
      const taken: number[] = []
      let total = 0
      for (let n = 0; n < READS; n += 1) {
        const beganMs = performance.now()
        const page = await caller(
          'GET',
          `/appstore/access_requests?size=100&${query.replace('{user}', who.id)}`,
        )
        taken.push(performance.now() - beganMs)
        total = (page as { total: number }).total
      }
      read.push({ who: name, query, total, first: taken[0] ?? 0, median: median(taken) })
    }
  return read
}

/** The state with the most rows, as read by an admin. */
function changedList(lists: Read[]): Read {
  const found = lists.find(({ query }) => query === 'statuses=COMPLETED&sort=DESC')
  if (!found) throw new Error('the list of requests of one state was not read')
  return found
}

function report(empty: Lives, beside: Lives, lists: Read[]) {
  const ms = (value: number): string => value.toFixed(1)
  const rate = (tookMs: number): string => (LIVES / (tookMs / 1000)).toFixed(1)
  const figures = (which: keyof Life, { lives }: Lives): string => {
    const sorted = lives.map((one) => one[which]).sort((a, b) => a - b)
    return `${ms(quantile(sorted, 0.5))} / ${ms(quantile(sorted, 0.99))}`
  }
  const ratio = (which: 'givenMs' | 'takenMs'): string => (empty[which] / beside[which]).toFixed(2)
  const worst = Math.max(...lists.map((one) => one.median))
  const [given, changed] = [LIVES / (empty.givenMs / 1000), changedList(lists)]
  return {
    part: 'requests',
    title: 'A million access requests',
    setting: `${LIVES} lives of requests, ${AT_ONCE} at once, in an empty company and beside ${ROWS.toLocaleString('en')} requests with as many tasks, for 500 apps and ${USERS.toLocaleString('en')} people. ${machineWords()}; load before: ${load}. Webhooks give and take; callers, host, webhooks and database share the machine.`,
    findings: {
      judged: [
        {
          what: `requests given a second, ${AT_ONCE} at once, in an empty company`,
          figure: given.toFixed(1),
          goal: '≥ 45',
          met: given >= 45,
        },
        {
          what: `first page of ${changed.total.toLocaleString('en')} requests of one state over HTTP, right after a change`,
          figure: `${ms(changed.first)} ms`,
          goal: '< 50 ms',
          met: changed.first < 50,
        },
        {
          what: 'requests given beside the million, of the rate without',
          figure: ratio('givenMs'),
          goal: '≥ 0.8',
          met: empty.givenMs / beside.givenMs >= 0.8,
        },
        {
          what: 'requests taken back beside the million, of the rate without',
          figure: ratio('takenMs'),
          goal: '≥ 0.8',
          met: empty.takenMs / beside.takenMs >= 0.8,
        },
        {
          what: 'slowest first page of a list, median',
          figure: `${ms(worst)} ms`,
          goal: '< 20 ms',
          met: worst < 20,
        },
      ],
      tables: [
        {
          title: 'Lives, median / p99 in ms, and how many a second',
          columns: [
            '',
            'asked',
            'approved',
            'until given',
            'given a second',
            'taken back a second',
          ],
          rows: [
            ['empty', empty],
            ['beside a million', beside],
          ].map(([name, one]) => {
            const lives = one as Lives
            return [
              name as string,
              figures('asked', lives),
              figures('approved', lives),
              figures('given', lives),
              rate(lives.givenMs),
              rate(lives.takenMs),
            ]
          }),
        },
        {
          title:
            'First pages of a hundred, in ms: after a change of the table, and the median of twenty',
          columns: ['who', 'list', 'total', 'first', 'median'],
          rows: lists.map(({ who, query, total, first, median: middle }) => [
            who,
            query === '' ? 'all' : query,
            total.toLocaleString('en'),
            ms(first),
            ms(middle),
          ]),
        },
      ],
      notes: [],
    },
  }
}
