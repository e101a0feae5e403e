/**
 * The embedded PostgreSQL: made at the first start, started and stopped with the host, reachable by a
 * Unix socket and a password that only the host holds. Survives what a host may suffer: the next start
 * after a SIGKILL finds out what is really running, and goes on.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { Client, type ClientConfig } from 'pg'
import { codeOf } from '../contract/errors/thrown.ts'
import { type Binaries, installBinaries } from './binaries.ts'
import { type Home, isMade, isOutside } from './home.ts'
import { noteMade, openHome } from './lost.ts'
import { markOf, ownFolder } from './place.ts'
import { clearPostmaster, stopServer } from './postmaster.ts'

const run = promisify(execFile)

/** How long a server may take from its start to its first answer, recovery included, in milliseconds. */
const READY_MS = 60_000

/** Connections for one host, its commands and a look from outside. */
const MAX_CONNECTIONS = 60

/** Pages that the server keeps. With PostgreSQL's own 128 MB requests beside a million earlier ones are slower (test/bench/RESULTS.md). */
const SHARED_BUFFERS = '256MB'

/**
 * What each of the server's processes keeps of memory that it has freed: 32 MB. By its own measure the C library returns
 * the texts and lists of one batch to the system, and the next batch has each page of it made and cleared again. Read by
 * the GNU C library alone (https://sourceware.org/glibc/manual/latest/html_node/Memory-Allocation-Tunables.html).
 */
const ALLOCATOR = {
  GLIBC_TUNABLES: 'glibc.malloc.mmap_threshold=8388608:glibc.malloc.trim_threshold=33554432',
}

const SETPRIV = '/usr/bin/setpriv'

/** The name of the role that owns everything, and of its database. */
export const NAME = 'keyway'

export type EmbeddedDatabase = {
  /** How to connect. */
  connection: ClientConfig
  cluster: string
  pid: number | null
  /** Resolves when the server has ended by itself; the text says how. */
  ended: Promise<string>
  stop(): Promise<void>
}

export type EmbeddedOptions = {
  dataDir: string
  /** A function where it is made only once there is a place for the database. */
  password: string | (() => Promise<string>)
  /** Whether an empty database may take the place of one that is missing. */
  replaceMissing?: boolean
  /** Connections that the server takes: enough for one host unless written. */
  maxConnections?: number
  /** Said while a start takes its time. */
  tell(text: string): void
  /** Lines of the server's own log. */
  onLine(line: string): void
}

/**
 * Starts the server of a data directory, making it first where there never was one.
 *
 * @throws LostDatabaseError where there was one.
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
  /** More of the server's own settings. */
  settings?: Readonly<Record<string, string>>
}

/** Starts the server of a data directory that is there, and waits for its first answer. */
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

/** A data directory of another major version is brought to this one by the start of a host (backup/upgrade.ts) alone. */
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

/** Makes an empty data directory. */
export async function makeCluster(home: Home, { bin }: Binaries, password: string): Promise<void> {
  // What an earlier attempt left half done.
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
  // Where it is there, the server shuts down by itself when the host is gone; elsewhere the next start
  // finds and stops it.
  const prefix = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'INT'] : []
  const [command = '', ...args] = [...prefix, ...postgres]
  const child = spawn(command, args, {
    cwd: home.cluster,
    env: ALLOCATOR,
    // A group of its own: Ctrl-C reaches the whole group of a terminal, and the host answers what is under way first.
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

/** Waits for the first answer; makes the database at the first start. */
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
      // No socket yet, or "the database system is starting up".
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
