/**
 * The embedded PostgreSQL: created at the first start, started and stopped with the host, reachable by a Unix
 * socket and a password that only the host holds. Recovers from a killed host: the start after a SIGKILL
 * finds out what is really running, and continues.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { Client, type ClientConfig } from 'pg'
import { codeOf } from '../contract/errors/thrown.ts'
import { type Binaries, installBinaries } from './binaries.ts'
import { noteMade, openHome } from './lost-database.ts'
import { clearPostmaster, stopServer } from './postmaster.ts'
import { type Home, isMade, isOutside } from './server-home.ts'
import { markOf, ownFolder } from './server-place.ts'

const run = promisify(execFile)

/** Maximum time from a server's start to its first answer, including recovery, in milliseconds. */
const READY_MS = 60_000

/** Number of connections for one host, its commands and an external client. */
const MAX_CONNECTIONS = 60

/**
 * Size of the server's page cache. With PostgreSQL's default of 128 MB, requests are slower next to a million
 * earlier ones (test/bench/RESULTS.md).
 */
const SHARED_BUFFERS = '256MB'

/**
 * Amount of freed memory that each server process keeps: 32 MB. By default the C library returns the texts
 * and lists of one batch to the system, which then has to allocate and clear every page for the next batch.
 * Only the GNU C library reads this variable
 * (https://sourceware.org/glibc/manual/latest/html_node/Memory-Allocation-Tunables.html).
 */
const ALLOCATOR = {
  GLIBC_TUNABLES: 'glibc.malloc.mmap_threshold=8388608:glibc.malloc.trim_threshold=33554432',
}

const SETPRIV = '/usr/bin/setpriv'

/** Name of the role that owns everything, and of its database. */
export const NAME = 'keyway'

export type EmbeddedDatabase = {
  /** Connection parameters. */
  connection: ClientConfig
  cluster: string
  pid: number | null
  /** Resolves when the server has ended by itself. The text describes how. */
  ended: Promise<string>
  stop(): Promise<void>
}

export type EmbeddedOptions = {
  dataDir: string
  /** A function if the password is created only once there is a place for the database. */
  password: string | (() => Promise<string>)
  /** Whether an empty database may replace a missing one. */
  replaceMissing?: boolean
  /** Maximum number of connections to the server. Default: enough for one host. */
  maxConnections?: number
  /** Called with messages while a start takes long. */
  tell(text: string): void
  /** Called with the lines of the server's own log. */
  onLine(line: string): void
}

/**
 * Starts the server of a data directory. Creates the database if the directory never had one.
 *
 * @throws LostDatabaseError if it had one that is missing
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { dataDir, tell, replaceMissing = false } = options
  const home = await openHome(dataDir, replaceMissing)
  const password =
    typeof options.password === 'string' ? options.password : await options.password()
  const binaries = await installBinaries(home.programs, home.owner)
  await checkVersion(home, binaries)
  await clearPostmaster(home.cluster, tell)
  if (!(await isMade(home))) {
    tell('making the database (once)')
    await makeCluster(home, binaries, password)
  }
  await noteMade(dataDir, home.cluster)
  if (isOutside(dataDir, home))
    tell(`the database lies in ${home.cluster}, outside of the data directory: keep both`)
  return startServer(home, binaries, { ...options, password })
}

type ServerOptions = Pick<EmbeddedOptions, 'tell' | 'onLine' | 'maxConnections'> & {
  password: string
  /** Additional settings of the server. */
  settings?: Readonly<Record<string, string>>
}

/** Starts the server of an existing data directory and waits for its first answer. */
export async function startServer(
  home: Home,
  binaries: Binaries,
  options: ServerOptions,
): Promise<EmbeddedDatabase> {
  const { password, tell } = options
  const child = launch(home, binaries, options)
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`))
    child.once('error', (error) => resolve(error.message))
  })
  const connection = { host: home.socket, user: NAME, password, database: NAME }
  await ready(connection, ended, tell)
  return {
    connection,
    cluster: home.cluster,
    pid: child.pid ?? null,
    ended,
    async stop() {
      await stopServer(
        (signal) => child.kill(signal),
        () => ended,
      )
    },
  }
}

/**
 * Refuses a data directory of another major version. Only the start of a host upgrades one
 * (backup/upgrade.ts).
 */
async function checkVersion({ cluster }: Home, { major }: Binaries): Promise<void> {
  const text = await readFile(path.join(cluster, 'PG_VERSION'), 'utf8').catch(() => null)
  const found = text === null ? major : Number.parseInt(text, 10)
  if (found === major) return
  throw new Error(
    found < major
      ? `the database in ${cluster} was made by PostgreSQL ${found}, this package brings ${major}: \`keyway start\` copies it to one of ${major} as long as the programs of ${found} lie beside it; where they are gone, start the version of Keyway that made it, run \`keyway backup\` there, and \`keyway restore\` with this version`
      : `the database in ${cluster} was made by PostgreSQL ${found}, this package brings ${major}: start the version of Keyway that made it, or a later one`,
  )
}

/** Creates an empty data directory. */
export async function makeCluster(home: Home, { bin }: Binaries, password: string): Promise<void> {
  // Remains of an earlier attempt.
  await rm(home.cluster, { recursive: true, force: true })
  await ownFolder(home.cluster, home.owner)
  const passwordFile = path.join(home.socket, 'password')
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (home.owner) await chown(passwordFile, home.owner.uid, home.owner.gid)
  try {
    await run(
      path.join(bin, 'initdb'),
      [
        '-D',
        home.cluster,
        '-U',
        NAME,
        '-E',
        'UTF8',
        '--locale=C',
        '--auth=scram-sha-256',
        `--pwfile=${passwordFile}`,
      ],
      { cwd: '/', env: {}, ...(home.owner ?? {}) },
    )
  } finally {
    await rm(passwordFile, { force: true })
  }
  await writeFile(markOf(home), '')
}

function launch(
  home: Home,
  { bin }: Binaries,
  { onLine, maxConnections = MAX_CONNECTIONS, settings = {} }: ServerOptions,
): ChildProcess {
  const postgres = [
    path.join(bin, 'postgres'),
    '-D',
    home.cluster,
    '-c',
    'listen_addresses=',
    '-c',
    `unix_socket_directories=${home.socket}`,
    '-c',
    'unix_socket_permissions=0700',
    '-c',
    `max_connections=${maxConnections}`,
    '-c',
    `shared_buffers=${SHARED_BUFFERS}`,
    '-c',
    'logging_collector=off',
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
  // With setpriv the server shuts down by itself when the host has ended. Without it, the next start finds
  // the server and stops it.
  const prefix = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'INT'] : []
  const [command = '', ...args] = [...prefix, ...postgres]
  const child = spawn(command, args, {
    cwd: home.cluster,
    env: ALLOCATOR,
    // A group of its own: Ctrl-C reaches the whole group of a terminal, but the host first completes running
    // calls.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(home.owner ?? {}),
  })
  let rest = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('utf8')).split('\n')
    rest = (lines.pop() ?? '').slice(-4000)
    for (const line of lines) onLine(line)
  })
  return child
}

/** Waits for the first answer. Creates the database at the first start. */
async function ready(
  connection: ClientConfig,
  ended: Promise<string>,
  tell: (text: string) => void,
): Promise<void> {
  const endMs = Date.now() + READY_MS
  let over: string | null = null
  void ended.then((how) => {
    over = how
  })
  for (let tries = 0; ; tries += 1) {
    if (over !== null) throw new Error(`the database server ended while starting: ${over}`)
    const client = new Client({ ...connection, database: 'postgres' })
    try {
      await client.connect()
      const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [
        NAME,
      ])
      if (rowCount === 0) await client.query(`create database ${NAME}`)
      return
    } catch (error) {
      const code = codeOf(error)
      // There is no socket yet, or "the database system is starting up".
      if (!['ENOENT', 'ECONNREFUSED', '57P03'].includes(code ?? '')) throw error
      if (Date.now() > endMs)
        throw new Error(`the database server does not answer after ${READY_MS} ms`)
      if (tries % 100 === 99)
        tell('the database is still starting (it may be recovering from a crash)')
      await new Promise((resolve) => setTimeout(resolve, 20))
    } finally {
      await client.end().catch(() => undefined)
    }
  }
}
