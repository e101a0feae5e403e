/**
 * The database of a running host: opened in the background, tried again until it is there. Connector
 * routes do not wait for it, core routes say 503 meanwhile.
 */
import type { ClientConfig } from 'pg'
import { errorOf } from '../contract/errors/thrown.ts'
import type { Connections, Database, Db } from './database.ts'
import { saysDiskFull, watchDisk } from './full-disk.ts'
import { homeOf } from './home.ts'
import { cannotBeUsed, connectionBeside, type Keeper } from './keeper.ts'
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
  /** Keeps the embedded one, where this process does. */
  keeper: Keeper | null
  /** Password of the embedded one, where another process keeps it. */
  password(): Promise<string>
  /** Called once the schema is there, before anybody is served; what it throws is told by `waitingFor`. */
  prepare(database: Database): Promise<void>
  tell(text: string): void
  onError(error: Error): void
}

/** Pause between two tries, in milliseconds. */
const RETRY_MS = 2000

/** Begins to open it. */
export function startDatabase(options: ServiceOptions): DatabaseService {
  const { keeper } = options
  let opened: Database | null = null
  let problem: string | null = 'the database is starting'
  let stopping = false
  const ending = Promise.withResolvers<null>()
  let wake: () => void = () => {}
  const disk = watchDisk(
    options.url === '' ? homeOf(options.dataDir).cluster : 'of the server of DATABASE_URL',
    (text) => options.onError(new Error(text)),
  )
  /** The server ends where it cannot write its journal: only its own words say why. */
  keeper?.hear((line) => {
    if (saysDiskFull(line)) disk.refused()
  })

  /** Null where it is stopped before there is a server. */
  async function connection(): Promise<ClientConfig | null> {
    if (options.url !== '') return { connectionString: options.url }
    if (keeper) return Promise.race([keeper.connection, ending.promise])
    return connectionBeside(options.dataDir, await options.password())
  }

  async function bring(): Promise<void> {
    while (!stopping) {
      try {
        const target = await connection()
        if (target === null) return
        const database = await openDatabase(target, options.onError, options.tell, disk.refused)
        try {
          await options.prepare(database)
        } catch (error) {
          await database.close()
          throw error
        }
        opened = database
        problem = null
        return
      } catch (error) {
        problem = cannotBeUsed(error)
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

  const first = bring()
  return {
    db: () => opened?.db ?? null,
    domainId: () => opened?.domainId ?? null,
    connections: () => opened?.connections() ?? { busy: 0, idle: 0, waiting: 0 },
    now: () => opened?.now() ?? Date.now(),
    listen(channel, hear) {
      if (!opened) throw new Error('the database has not been reached yet')
      return opened.listen(channel, hear)
    },
    pid: () => keeper?.pid() ?? null,
    waitingFor: () => {
      const away = opened?.waitingFor() ?? null
      return [keeper?.problem() ?? problem ?? away ?? [], disk.words() ?? []].flat()
    },
    serves: () => opened !== null && opened.waitingFor() === null && disk.words() === null,
    first,
    async stop() {
      stopping = true
      ending.resolve(null)
      wake()
      disk.stop()
      await first
      await opened?.close()
      await keeper?.stop()
    },
  }
}
