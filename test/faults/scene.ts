/** Runs two hosts on one PostgreSQL with a connected system that misbehaves on command. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { drizzle } from 'drizzle-orm/node-postgres'
import { Client, Pool } from 'pg'
import { type EmbeddedDatabase, startEmbedded } from '../../runtime/database/embedded.ts'
import { type BadSystem, startBadSystem } from '../core/requests/faults/bad-system.ts'
import { forgetDatabase } from '../database/forget.ts'
import { killDatabase, signalDatabase } from '../database/kill.ts'
import { send } from '../e2e/client.ts'
import { begin, type Command, stopCommands } from '../e2e/command.ts'
import { until } from '../e2e/until.ts'
import { mountSmallDisk } from './small-disk.ts'

const TOKEN = `lsk_${'faults'.repeat(8)}`
const PASSWORD = 'p'.repeat(40)
const HOSTS = 2
const READY_MS = 90_000

export type Scene = Awaited<ReturnType<typeof createScene>>

type OneHost = { url: string; command: Command }

export async function createScene() {
  const home = await mkdtemp(path.join(tmpdir(), 'keyway-faults-'))
  // The database server's user must be able to enter the folder, so that its database is in here.
  await chmod(home, 0o711)
  const shared = path.join(home, 'database')
  const disk = await mountSmallDisk(shared)
  const startServer = (): Promise<EmbeddedDatabase> =>
    startEmbedded({ dataDir: shared, password: PASSWORD, tell: () => {}, onLine: () => {} })
  let server: EmbeddedDatabase | null = await startServer()
  const { host: socket } = server.connection
  if (disk && !server.cluster.startsWith(shared))
    throw new Error(`the database is in ${server.cluster}, not on the disk that is filled`)
  const system: BadSystem = await startBadSystem()
  let secrets = 'secret-of-all-hosts-'.repeat(3)

  const env = (index: number) => ({
    ...system.env,
    DATABASE_URL: `postgres://keyway:${PASSWORD}@/keyway?host=${socket}`,
    KEYWAY_DATA_DIR: path.join(home, `host-${index}`),
    KEYWAY_SECRET: secrets,
    KEYWAY_ADMIN_TOKEN: TOKEN,
    PORT: '0',
  })
  const hosts: (OneHost | null)[] = Array.from({ length: HOSTS }, () => null)

  async function startHost(index: number, more: Record<string, string> = {}): Promise<void> {
    const command = begin(['start'], { env: { ...env(index), ...more } })
    const [, url = ''] = await command.prints(/"url":"([^"]+)"/)
    hosts[index] = { url, command }
    const isReady = async () => (await send(`${url}/readyz`, {})).status === 200
    await until('a host is ready', isReady, READY_MS)
  }
  async function endHost(index: number, signal: NodeJS.Signals): Promise<void> {
    const one = hosts[index]
    hosts[index] = null
    one?.command.kill(signal)
    await one?.command.ended
  }

  await Promise.all(hosts.map((_, index) => startHost(index)))
  /** One persistent connection, opened first: the server has sixty, and two busy hosts may use them all. */
  const connected = async ({ connection }: EmbeddedDatabase): Promise<Pool> => {
    const made = new Pool({
      ...connection,
      application_name: 'scene',
      max: 1,
      idleTimeoutMillis: 0,
    })
    made.on('error', () => undefined)
    await until('the database accepts connections', () => made.query('select').catch(() => null))
    return made
  }
  let pool = await connected(server)

  /** Runs statements as the server's owner, on a separate connection. */
  async function owned(ask: (client: Client) => Promise<unknown>): Promise<void> {
    if (!server) throw new Error('the database is unavailable')
    const client = new Client({ ...server.connection, application_name: 'scene' })
    client.on('error', () => undefined)
    await client.connect()
    try {
      await ask(client)
    } finally {
      await client.end()
    }
  }

  /** Calls the core interface at any live host; returns null for a lost answer. */
  async function call(method: string, target: string, body?: object) {
    const reply = await sent(method, target, body)
    return (
      reply && { status: reply.status, value: reply.text === '' ? null : JSON.parse(reply.text) }
    )
  }
  /** The same, with the raw answer. */
  async function sent(method: string, target: string, body?: object) {
    const live = hosts.filter((one) => one !== null)
    const one = live[Math.floor(Math.random() * live.length)]
    if (!one) return null
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    }
    const request = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
    const reply = await send(one.url + target, request).catch(() => null)
    return reply === null || reply.status >= 500 ? null : reply
  }
  /** The last refusal, for the error message of a request that never succeeds. */
  let refused = ''
  /** Retries a call until it succeeds; only for repeatable calls. */
  const answered = (method: string, target: string, body?: object) =>
    until(
      `${method} ${target} is answered`,
      async () => {
        const reply = await call(method, target, body)
        if (reply === null || reply.status < 400) return reply
        refused = JSON.stringify(reply.value)
        return null
      },
      READY_MS,
    ).catch((error: Error) => {
      throw new Error(`${error.message} ${refused}`)
    })

  return {
    system,
    hosts,
    call,
    sent,
    answered,
    startHost,
    endHost,
    db: () => drizzle(pool),
    /** Kills the server and all its sessions. */
    async killDatabase() {
      await pool.end()
      killDatabase(server?.pid ?? null)
      await server?.ended
      server = null
    },
    /** Stops all of the server's processes, or continues them. */
    signalDatabase(signal: 'SIGSTOP' | 'SIGCONT') {
      signalDatabase(server?.pid ?? null, signal)
    },
    setReadOnly: (wanted: boolean) =>
      owned(async (client) => {
        await client.query('set default_transaction_read_only = off')
        await client.query(
          `alter system set default_transaction_read_only = ${wanted ? 'on' : 'off'}`,
        )
        await client.query('select pg_reload_conf()')
      }),
    /** Ends every session of the hosts. */
    cutConnections: () =>
      owned((client) =>
        client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where backend_type = 'client backend' and pid <> pg_backend_pid() and application_name <> 'scene'`,
        ),
      ),
    async startDatabase() {
      server = await startServer()
      pool = await connected(server)
    },
    disk,
    /** Restarts the server if it has ended by itself, as a service manager would. */
    async reviveDatabase() {
      const lives = await Promise.race([server?.ended.then(() => false), pause(2000, true)])
      if (lives) return
      await pool.end()
      server = await startServer()
      pool = await connected(server)
    },
    rotate(newest: string) {
      secrets = newest
    },
    secrets: () => secrets,
    async stop() {
      for (const index of hosts.keys()) await endHost(index, 'SIGTERM')
      await stopCommands()
      await pool.end()
      await system.close()
      await server?.stop()
      await forgetDatabase(shared)
      await disk?.remove()
      await rm(home, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}
