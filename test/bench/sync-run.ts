/**
 * Syncs a generated upstream with a real host, which is killed several times, and checks that the final data
 * is exactly that of the upstream.
 */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Client } from 'pg'
import { mapValues } from '../../runtime/contract/schema/keys.ts'
import { homeOf } from '../../runtime/database/server-home.ts'
import { begin, type Command, newHome } from '../e2e/command.ts'
import { until } from '../e2e/until.ts'
import { fixture } from '../fixtures/folders.ts'
import { databaseUsOf, hostTimesOf, type Memory, memoryOf } from './processes.ts'
import { ENTITLEMENTS, HELD, startGenerated } from './sync-upstream.ts'

/** The operator token of the hosts of the bench. */
export const TOKEN = `lsk_${'sync'.repeat(10)}`

export type SyncOptions = {
  accounts: number
  /** How often the host is killed, spread over the run. */
  kills: number
  onProgress?(text: string): void
  /** Inspects the database once the sync is done. */
  look?(client: Client): Promise<void>
}

/** Duration, and processor time by process in microseconds; `upstream` is the bench itself. */
export type Taken = {
  tookMs: number
  cpu: Record<'host' | 'workers' | 'database' | 'upstream', number>
}

export type SyncReport = {
  /** From the request to the end of the run, including kills and restarts. */
  tookMs: number
  kills: number
  /** The run itself, and another without changes. Not measured for a host that was killed. */
  first: Taken | null
  again: Taken | null
  peak: Memory
  /** Host and workers together, ten samples a second, in chronological order. */
  memoryMb: number[]
  counts: Record<string, number>
  pages: number
  /** Differences from the upstream; empty for the exact result. */
  wrong: string[]
}

type Running = { command: Command; url: string }

export async function runSync(options: SyncOptions): Promise<SyncReport> {
  const { accounts, kills, onProgress = () => {} } = options
  const total = accounts * (1 + HELD) + ENTITLEMENTS
  const killAt = Array.from(
    { length: kills },
    (_, n) => (total * (n + 0.3 + Math.random() * 0.6)) / kills,
  )
  let killed = 0
  /** Whether the upstream waits for the next kill: a fast run could end before the host is killed. */
  let isHeld = false
  const upstream = await startGenerated(accounts, (served) => {
    isHeld ||= served >= ((killAt[killed] ?? Number.POSITIVE_INFINITY) + total) / 2
    return isHeld
  })
  const home = await newHome()
  const dataDir = path.join(home, 'data')
  const plugins = path.join(home, 'plugins')
  await prepare(plugins)
  const env = {
    PORT: '0',
    KEYWAY_DATA_DIR: dataDir,
    KEYWAY_PLUGINS_DIR: plugins,
    KEYWAY_ADMIN_TOKEN: TOKEN,
    KEYWAY_REQUESTS_PER_MINUTE: '1000000',
    KEYWAY_MAX_REQUESTS_PER_SECOND: '100000',
    KEYWAY_PRIVATE_EGRESS: `synced=${upstream.host}`,
  }
  const start = async (): Promise<Running> => {
    const command = begin(['start'], { env })
    const [, url = ''] = await command.prints(/"url":"([^"]+)"/)
    await until(
      'the host is ready',
      async () => (await fetch(`${url}/readyz`)).status === 200,
      120_000,
    )
    await until('the connector is served', async () => {
      const reply = await fetch(`${url}/connectors/synced/info`)
      return ((await reply.json()) as { is_error?: true }).is_error !== true
    })
    return { command, url }
  }
  let running = await start()
  try {
    const appId = await connect(running.url, upstream.host)
    const measure = () => measureFrom(running.command)
    const first = kills === 0 ? measure() : null
    const beganMs = performance.now()
    await send(running.url, 'POST', `/apps/${appId}/sync`, { sync_type: 'full_sync' })
    const samples: Memory[] = []
    let run = await latest(running.url)
    while (run.state === 'RUNNING') {
      const rows = run.counts['rows'] ?? 0
      onProgress(`${run.phase}: ${rows} of ${total} rows, ${killed} kills`)
      samples.push(memoryOf({ pid: running.command.pid } as never))
      if (killed < kills && (isHeld || rows >= (killAt[killed] ?? 0))) {
        running.command.kill('SIGKILL')
        await running.command.ended
        killed += 1
        isHeld = false
        running = await start()
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
      run = await latest(running.url)
    }
    const tookMs = performance.now() - beganMs
    const taken = first?.() ?? null
    const client = await login(dataDir)
    const wrong = await compare(client, accounts, run)
    await options.look?.(client)
    const again = kills === 0 ? measure() : null
    if (again) wrong.push(...(await syncAgain(running.url, appId)))
    const unchanged = again?.() ?? null
    if (again) wrong.push(...(await compare(client, accounts, run)))
    await client.end()
    return {
      tookMs,
      kills: killed,
      first: taken,
      again: unchanged,
      peak: samples.reduce((a, b) => (a.hostMb + a.workersMb > b.hostMb + b.workersMb ? a : b)),
      memoryMb: samples.map(({ hostMb, workersMb }) => hostMb + workersMb),
      counts: run.counts,
      pages: upstream.pages(),
      wrong,
    }
  } finally {
    running.command.kill('SIGTERM')
    await running.command.ended
    await upstream.close()
  }
}

/** Starts to measure. The result returns the usage since then. */
function measureFrom(command: Command): () => Taken {
  const now = () => {
    const { hostUs, workersUs } = hostTimesOf(command)
    const { user, system } = process.cpuUsage()
    const database = databaseUsOf(command.pid)
    return { host: hostUs, workers: workersUs, database, upstream: user + system }
  }
  const before = now()
  const beganMs = performance.now()
  return () => ({
    tookMs: performance.now() - beganMs,
    cpu: mapValues(now(), (us, who) => us - before[who]),
  })
}

/** Syncs again and returns what went wrong. */
async function syncAgain(url: string, appId: string): Promise<string[]> {
  await send(url, 'POST', `/apps/${appId}/sync`, { sync_type: 'full_sync' })
  let run = await latest(url)
  while (run.state === 'RUNNING') {
    await new Promise((resolve) => setTimeout(resolve, 100))
    run = await latest(url)
  }
  return run.state === 'SUCCEEDED' ? [] : [`the second run ${run.state}: ${run.problem}`]
}

/** The fixture without the capabilities that the upstream does not have, and with a high rate limit. */
async function prepare(plugins: string): Promise<void> {
  const folder = path.join(plugins, 'synced')
  await mkdir(folder, { recursive: true })
  await cp(fixture('synced'), folder, { recursive: true })
  const file = path.join(folder, 'connector.json')
  const manifest = JSON.parse(await readFile(file, 'utf8'))
  const code = path.join(folder, 'connector.ts')
  const text = await readFile(code, 'utf8')
  const from = text.indexOf('  get_last_activity:')
  await writeFile(code, `${text.slice(0, from)}})\n`)
  const cut = ['get_last_activity', 'list_expenses', 'deactivate_account', 'unassign_entitlement']
  for (const name of cut) delete manifest.capabilities[name]
  // The default pace of a connector, 50 requests a second, would limit it to 50,000 rows a second.
  manifest.limits.requests_per_second = 10_000
  await writeFile(file, JSON.stringify(manifest))
}

/** The answer of a host of the bench to its operator. */
// biome-ignore lint/suspicious/noExplicitAny: the bench looks into answers freely
export async function send(url: string, method: string, at: string, body?: object): Promise<any> {
  const reply = await fetch(url + at, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!reply.ok) throw new Error(`${at}: ${reply.status} ${await reply.text()}`)
  return reply.json()
}

const connect = async (url: string, host: string): Promise<string> =>
  (
    await send(url, 'POST', '/apps', {
      app_class_id: 'synced',
      auth: { token: 'a-token-for-the-bench' },
      settings: { base_url: `http://${host}` },
    })
  ).id

/** A run of a sync, as the operator sees it. */
export type Run = {
  state: string
  phase: string
  problem: string | null
  counts: Record<string, number>
}

/** The latest run of all. */
export const latest = async (url: string): Promise<Run> =>
  (await send(url, 'GET', '/operator/syncs?limit=1')).items[0]

/** As the owner of the embedded server. */
export async function login(dataDir: string): Promise<Client> {
  const password = (await readFile(path.join(dataDir, 'database-password'), 'utf8')).trim()
  const client = new Client({
    host: homeOf(dataDir).socket,
    user: 'keyway',
    database: 'keyway',
    password,
  })
  await client.connect()
  return client
}

async function compare(client: Client, accounts: number, run: Run): Promise<string[]> {
  const held = accounts * HELD
  const { rows } = await client.query(`
    select
      (select count(*) from accounts) as accounts,
      (select count(*) from accounts a join generate_series(0, ${accounts} - 1) n
        on a.unique_identifier = 'u' || lpad(n::text, 9, '0')
        where a.email = 'person.' || n || '@example.com' and a.gone_at is null
        and a.status = case when n % 50 = 0 then 'SUSPENDED' else 'ACTIVE' end) as right_accounts,
      (select count(*) from associations) as associations,
      (select count(*) from generate_series(0, ${accounts} - 1) n
        cross join generate_series(0, ${HELD} - 1) k
        join accounts a on a.unique_identifier = 'u' || lpad(n::text, 9, '0')
        join entitlements e on e.external_id = 'g' || (n * 7 + k * 131) % ${ENTITLEMENTS}
        join associations s on s.account_id = a.id and s.entitlement_id = e.id) as right_associations,
      (select count(*) from requestable_permissions where type = 'SYNCED') as permissions`)
  const expected = {
    accounts,
    right_accounts: accounts,
    associations: held,
    right_associations: held,
    permissions: ENTITLEMENTS,
  }
  const wrong = Object.entries(expected)
    .filter(([name, count]) => Number(rows[0][name]) !== count)
    .map(([name, count]) => `${name}: ${rows[0][name]} instead of ${count}`)
  if (run.state !== 'SUCCEEDED') wrong.push(`the run ${run.state}: ${run.problem}`)
  return wrong
}
