/**
 * The database of a running host: opened in the background, tried again until it is there. Connector
 * routes do not wait for it, core routes say 503 meanwhile.
 */
import type { ClientConfig } from 'pg'
import { errorOf, messageOf } from '../contract/errors/thrown.ts'
import { isAway } from './away.ts'
import type { Connections, Database, Db } from './database.ts'
import { type EmbeddedDatabase, startEmbedded } from './embedded.ts'
import { saysDiskFull, watchDisk } from './full-disk.ts'
import { homeOf } from './home.ts'
import { lockDataDir } from './host-lock.ts'
import { connectionBeside } from './keeper.ts'
import { openDatabase } from './open.ts'

export type DatabaseService = {
  /** Null until the schema is up to date. */
  db(): Db | null
  /** The one domain of this deployment; null until the schema is up to date. */
  domainId(): string | null
  connections(): Connections
  /** What time it is for all hosts of the database; the host's own clock until it was reached. In milliseconds since 1970. */
  now(): number
  /** Hears what is said on a channel of the database that was reached; the answer ends it. */
  listen(channel: string, hear: (said: string | null) => void): () => Promise<void>
  /** The embedded server's process, or null. */
  pid(): number | null
  /** As text, for /readyz: nothing when it serves and has room. */
  waitingFor(): string[]
  /** Whether it serves now: not while it is away for longer than a moment, reads only, or has no room. */
  serves(): boolean
  /** Resolves when it serves for the first time, or the host stops. */
  first: Promise<void>
  stop(): Promise<void>
}

type ServiceOptions = {
  dataDir: string
  /** The operator's own server; empty for the embedded one. */
  url: string
  /** Password of the embedded one. */
  password(): Promise<string>
  /** Whether an empty embedded one may take the place of one that is missing, once. */
  replaceMissing: boolean
  /** Another process keeps the embedded one, and the lock (keeper.ts). */
  isBeside: boolean
  /** Called before the embedded one is started: brings one of an older major version to the package's. */
  upgrade(signal: AbortSignal): Promise<void>
  /** Called once the schema is there, before anybody is served; what it throws is told by `waitingFor`. */
  prepare(database: Database): Promise<void>
  tell(text: string): void
  onError(error: Error): void
  onLine(line: string): void
}

/** Pause between two tries, in milliseconds. */
const RETRY_MS = 2000

/** @throws DataDirInUseError when another host runs on the same data directory. */
export async function startDatabase(options: ServiceOptions): Promise<DatabaseService> {
  const isOwn = options.url === '' && !options.isBeside
  const unlock = isOwn ? await lockDataDir(options.dataDir) : null
  let embedded: EmbeddedDatabase | null = null
  let opened: Database | null = null
  let problem: string | null = 'the database is starting'
  let stopping = false
  const ending = new AbortController()
  let { replaceMissing } = options
  let wake: () => void = () => {}
  const disk = watchDisk(
    options.url === '' ? homeOf(options.dataDir).cluster : 'of the server of DATABASE_URL',
    (text) => options.onError(new Error(text)),
  )
  /** The server ends where it cannot write its journal: only its own words say why. */
  const onLine = (line: string) => {
    if (saysDiskFull(line)) disk.refused()
    options.onLine(line)
  }

  async function connection(): Promise<ClientConfig> {
    if (options.url !== '') return { connectionString: options.url }
    if (options.isBeside) return connectionBeside(options.dataDir, await options.password())
    if (!embedded) {
      await options.upgrade(ending.signal)
      const made = await startEmbedded({ ...options, onLine, replaceMissing })
      embedded = made
      replaceMissing = false
      // A server that ends by itself is started again by the next try.
      void made.ended.then((how) => {
        if (embedded === made) embedded = null
        if (!stopping) {
          problem = `the database server ended (${how})`
          options.onError(new Error(problem))
          bringing = bring()
        }
      })
    }
    return embedded.connection
  }

  async function bring(): Promise<void> {
    while (!stopping) {
      try {
        const target = await connection()
        if (!opened) {
          const database = await openDatabase(target, options.onError, options.tell, disk.refused)
          try {
            await options.prepare(database)
          } catch (error) {
            await database.close()
            throw error
          }
          opened = database
        }
        problem = null
        return
      } catch (error) {
        const what = isAway(error) ? 'reached' : 'used'
        problem = `the database cannot be ${what}: ${messageOf(error)}`
        options.onError(errorOf(error))
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, RETRY_MS)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
    }
  }

  let bringing = bring()
  const first = bringing
  return {
    db: () => opened?.db ?? null,
    domainId: () => opened?.domainId ?? null,
    connections: () => opened?.connections() ?? { busy: 0, idle: 0, waiting: 0 },
    now: () => opened?.now() ?? Date.now(),
    listen(channel, hear) {
      if (!opened) throw new Error('the database has not been reached yet')
      return opened.listen(channel, hear)
    },
    pid: () => embedded?.pid ?? null,
    waitingFor: () => {
      const away = opened?.waitingFor() ?? null
      return [problem ?? away ?? [], disk.words() ?? []].flat()
    },
    serves: () => opened !== null && opened.waitingFor() === null && disk.words() === null,
    first,
    async stop() {
      stopping = true
      ending.abort()
      wake()
      disk.stop()
      await bringing
      await opened?.close()
      await embedded?.stop()
      await unlock?.()
    },
  }
}
