/**
 * The database of a running host: opened in the background and retried until it succeeds. Connector routes do
 * not wait for it. Core routes answer 503 until then.
 */
import type { ClientConfig } from 'pg'
import { errorOf } from '../contract/errors/thrown.ts'
import type { Connections, Database, Db } from './database.ts'
import { saysDiskFull, watchDisk } from './full-disk.ts'
import { cannotBeUsed, connectionToSharedServer, type Keeper } from './keeper.ts'
import { openDatabase } from './open.ts'
import { homeOf } from './server-home.ts'

export type DatabaseService = {
  /** Returns the database, or null until the schema is up to date. */
  db(): Db | null
  /** Returns the id of this deployment's only domain, or null until the schema is up to date. */
  domainId(): string | null
  connections(): Connections
  /**
   * Returns the time shared by all hosts of the database, in milliseconds since 1970. Uses the host's own
   * clock until the database has been reached.
   */
  now(): number
  /**
   * Listens on a channel of the database, which must have been reached. The returned function stops
   * listening.
   */
  listen(channel: string, hear: (said: string | null) => void): () => Promise<void>
  /** Returns the process id of the embedded server, or null. */
  pid(): number | null
  /** Returns problems as text for /readyz, none if the database serves and has space. */
  waitingFor(): string[]
  /**
   * Reports whether the database serves now. False while it is away for longer than a moment, is read-only,
   * or has no space.
   */
  serves(): boolean
  /** Resolves when the database serves for the first time, or when the host stops. */
  first: Promise<void>
  stop(): Promise<void>
}

type ServiceOptions = {
  dataDir: string
  /** URL of the operator's own server, empty for the embedded one. */
  url: string
  /** Keeper of the embedded server, if this process keeps it. */
  keeper: Keeper | null
  /** Returns the password of the embedded server, if another process keeps it. */
  password(): Promise<string>
  /** Called once the schema is up to date, before requests are served. `waitingFor` reports its errors. */
  prepare(database: Database): Promise<void>
  tell(text: string): void
  onError(error: Error): void
}

/** Pause between two attempts, in milliseconds. */
const RETRY_MS = 2000

/** Begins to open the database. */
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
  /** A server that cannot write its journal ends. Only its own log gives the reason. */
  keeper?.hear((line) => {
    if (saysDiskFull(line)) disk.refused()
  })

  /** Returns null if the service is stopped before there is a server. */
  async function connection(): Promise<ClientConfig | null> {
    if (options.url !== '') return { connectionString: options.url }
    if (keeper) return Promise.race([keeper.connection, ending.promise])
    return connectionToSharedServer(options.dataDir, await options.password())
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
