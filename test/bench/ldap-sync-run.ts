/**
 * Syncs a directory of many people with a real host. Reads the same through the host without writing to its
 * database, and by ldapts alone. The last phase of a sync, which asks for the last sign-in of each person, is
 * left out: its duration depends only on the connector's pace.
 */
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { mapValues } from '../../runtime/contract/schema/keys.ts'
import { begin, newHome } from '../e2e/command.ts'
import { until } from '../e2e/until.ts'
import { startAnother } from '../egress/ldap/directory.ts'
import { type Directory, PAGE, readAlone } from './ldapts-alone.ts'
import { databaseUsOf, hostTimesOf, memoryOf, namedUs } from './processes.ts'
import { login, type Run, send, TOKEN } from './sync-run.ts'

/** Groups that each person is in. */
export const HELD = 3
/** How often ldapts reads. */
const READINGS = 3
/** Interval between memory samples, in milliseconds. */
const LOOK_MS = 200
/** The longest time that a worker takes to start, in milliseconds. */
const REST_MS = 1000

/** Waits until the last run has read all people, groups and memberships, or has ended. */
const UNTIL_ENDED = `do $$ begin loop
  exit when (select state <> 'RUNNING' or phase = 'activity' from sync_runs order by id desc limit 1);
  commit;
  perform pg_sleep(0.02);
end loop; end $$`

/** Processor time in microseconds, by process; `client` is the bench itself. */
export type Cpu = Record<'host' | 'workers' | 'database' | 'directory' | 'client', number>

/** The duration of one way of reading, and its processor time. */
export type Way = { tookMs: number; cpu: Cpu }

export type LdapSyncReport = {
  /** From the request until all people, groups and memberships are stored. */
  sync: Way
  /** All pages of people and of memberships, by calls of the connector over HTTP. */
  calls: Way
  /** People and groups with their members, read by ldapts alone before the host starts. */
  client: Way[]
  /** Host and workers together, five samples a second, in chronological order. */
  memoryMb: number[]
  /** Differences from the directory; empty for the exact result. */
  wrong: string[]
}

export async function runLdapSync(people: number): Promise<LdapSyncReport> {
  const directory = await startAnother({ PAGE: String(PAGE), CROWD: String(people) })
  const { url, baseDn, auth } = directory
  // Before the host starts: an idle host would be measured too.
  const client = await readAloneOften(directory)
  const address = new URL(url).host
  const dataDir = path.join(await newHome(), 'data')
  const command = begin(['start'], {
    env: {
      PORT: '0',
      KEYWAY_DATA_DIR: dataDir,
      KEYWAY_ADMIN_TOKEN: TOKEN,
      KEYWAY_REQUESTS_PER_MINUTE: '1000000',
      // The members that the connector itself requests.
      KEYWAY_MAX_REQUESTS_PER_SECOND: '500',
      KEYWAY_PRIVATE_EGRESS: `ldap=${address}`,
      KEYWAY_PLAIN_LDAP: `ldap=${address}`,
    },
  })
  try {
    const [, host = ''] = await command.prints(/"url":"([^"]+)"/)
    await until(
      'the host is ready',
      async () => (await fetch(`${host}/readyz`)).status === 200,
      120_000,
    )
    const envelope = {
      auth: { username: auth.bindDn, password: auth.password },
      settings: {
        url,
        people_dn: `ou=crowd,${baseDn}`,
        groups_dn: `ou=crowds,${baseDn}`,
        page_size: PAGE,
      },
    }
    const app = await send(host, 'POST', '/apps', { app_class_id: 'ldap', ...envelope })
    const cpu = (): Cpu => {
      const { hostUs, workersUs } = hostTimesOf(command)
      const { user, system } = process.cpuUsage()
      return {
        ...{ host: hostUs, workers: workersUs, database: databaseUsOf(command.pid) },
        ...{ directory: namedUs(url), client: user + system },
      }
    }
    const measured = async (work: () => Promise<unknown>): Promise<Way> => {
      const before = cpu()
      const begunMs = performance.now()
      await work()
      const tookMs = performance.now() - begunMs
      const after = cpu()
      return { tookMs, cpu: mapValues(after, (us, who) => us - before[who]) }
    }
    // The connection took the spare worker. The next one would start during the sync and count as growth.
    await until('a worker is available again', async () => memoryOf(command).workers > 1)
    await pause(REST_MS)
    const memoryMb: number[] = []
    const database = await login(dataDir)
    const ended: Run[] = []
    collectGarbage()
    const sync = await measured(async () => {
      await send(host, 'POST', `/apps/${app.id}/sync`, { sync_type: 'full_sync' })
      const look = () => {
        const { hostMb, workersMb } = memoryOf(command)
        memoryMb.push(hostMb + workersMb)
      }
      // A few people are synced before the next sample.
      look()
      const looking = setInterval(look, LOOK_MS)
      // Polls inside the database: polling from a client would be part of the measurement.
      await database.query(UNTIL_ENDED).finally(() => clearInterval(looking))
      const { rows } = await database.query<Run>(
        'select state, phase, problem from sync_runs order by id desc limit 1',
      )
      ended.push(...rows)
    })
    const calls = await measured(() => readCalls(host, envelope))
    const { rows } = await database.query(
      `select (select count(*) from accounts where gone_at is null) as accounts,
        (select count(distinct unique_identifier) from accounts
          where email like 'crowd%@example.test') as right_accounts,
        (select count(*) from associations) as associations`,
    )
    await database.end()
    const expected = { accounts: people, right_accounts: people, associations: people * HELD }
    const wrong = Object.entries(expected)
      .filter(([name, count]) => Number(rows[0][name]) !== count)
      .map(([name, count]) => `${name}: ${rows[0][name]} instead of ${count}`)
    for (const run of ended)
      if (run.state !== 'SUCCEEDED' && run.phase !== 'activity')
        wrong.push(`the run ${run.state}: ${run.problem}`)
    return { sync, calls, client, memoryMb, wrong }
  } finally {
    command.kill('SIGTERM')
    await command.ended
    await directory.stop()
  }
}

/** Collects the garbage that making the directory left before the measurement, not during it. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

/** Has ldapts read all of a directory, `READINGS` times. */
async function readAloneOften(directory: Directory): Promise<Way[]> {
  const readings: Way[] = []
  for (let reading = 0; reading < READINGS; reading += 1) {
    const before = namedUs(directory.url)
    const { tookMs, clientUs } = await readAlone(directory)
    const cpu = { directory: namedUs(directory.url) - before, client: clientUs }
    readings.push({ tookMs, cpu: { host: 0, workers: 0, database: 0, ...cpu } })
  }
  return readings
}

/** Reads every page of both listings without parsing the bodies. */
async function readCalls(
  host: string,
  { auth, settings }: { auth: { username: string; password: string }; settings: object },
): Promise<void> {
  for (const capability of ['list_accounts', 'find_entitlement_associations']) {
    let token: string | undefined
    do {
      const answer = await fetch(`${host}/connectors/ldap/${capability}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          ...{ auth: { basic: auth }, settings, request: {} },
          page: { size: PAGE, ...(token === undefined ? {} : { token }) },
        }),
      })
      const end = Buffer.from(await answer.arrayBuffer())
        .toString('latin1')
        .slice(-20_000)
      if (answer.status !== 200) throw new Error(`${capability}: ${end}`)
      token = /"page":\{"token":"([^"]+)"/.exec(end)?.[1]
    } while (token !== undefined)
  }
}
