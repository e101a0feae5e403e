/** The database of a host and the background work on it, which start together. */
import type { Config } from '../config/config.ts'
import { createChaining } from '../core/kernel/audit/unchained-entries.ts'
import { type BackgroundWork, createWork } from '../core/kernel/background/background.ts'
import type { CoreContext } from '../core/kernel/context/context.ts'
import type { Pace } from '../core/kernel/context/pace.ts'
import type { Post } from '../core/kernel/context/post.ts'
import { connectionsOf } from '../core/kernel/deployment/connection-budget.ts'
import { agreeOnSecret } from '../core/kernel/deployment/deployment.ts'
import type { TokenHasher } from '../core/kernel/identity/token-hasher.ts'
import { TOKENS_CHANNEL } from '../core/kernel/identity/tokens.ts'
import type { KeptDays } from '../core/retention/rules.ts'
import type { OperatorStanding } from '../core/sign-in/operator-standing.ts'
import { takeOperatorToken } from '../core/sign-in/operator-token.ts'
import { notifyPaused } from '../core/tasks/upgrade-notice.ts'
import { jobHandlers } from '../core/wiring/job-handlers.ts'
import type { Keeper } from '../database/keeper.ts'
import { PASSWORD_FILE } from '../database/server-place.ts'
import { type DatabaseService, startDatabase } from '../database/service.ts'
import { isDatabaseUnavailable } from '../database/unavailable.ts'
import type { Log } from '../observe/log.ts'
import { keptSecret } from '../secrets/secret-files.ts'
import { keepServer } from './keep-server.ts'

type HostDatabaseOptions = {
  config: Config
  log: Log
  /** Operator's secrets, newest first. */
  secrets: readonly string[]
  /** Receives the state of the operator's token. */
  operator: OperatorStanding
  hasher: TokenHasher
  /** Resolves when connectors can be called. Jobs wait for it. */
  parts: Promise<CoreContext>
  /** Retention of finished records, by table. */
  keptDays: KeptDays
  /** Whether an empty embedded database may replace a missing one. */
  replaceMissing: boolean
  /** Whether another process keeps the embedded database. */
  isBeside: boolean
  /** Keeper of the embedded server, if it was started earlier. */
  keeper: Keeper | null
  pace: Pace
  /** Null if no mail is sent. */
  post: Post | null
}

type HostDatabase = { database: DatabaseService; work: BackgroundWork }

/** Implementation of `send` for a host without a database, which has no records and so no background work. */
export const noWork: CoreContext['send'] = () => Promise.reject(new Error('there is no database'))

/** Warning for an operator whose list begins with a secret that was already replaced. */
const REPLACED_FIRST =
  'KEYWAY_SECRET begins with a secret that was replaced by a later one of the list: write the newest first, or the older one never gets free to be dropped'

/** Opens the database in the background. An error in a setting is thrown at once. */
export async function openHostDatabase(options: HostDatabaseOptions): Promise<HostDatabase> {
  const {
    config,
    log,
    secrets,
    operator,
    hasher,
    parts,
    keptDays,
    replaceMissing,
    isBeside,
    keeper,
    pace,
    post,
  } = options
  const { dataDir } = config
  const work = createWork({
    handlers: jobHandlers(keptDays, post),
    keptDays: keptDays.jobs,
    parts,
    pace,
    onError: (error) => log.error({ err: error }, 'background work failed'),
  })
  const chaining = createChaining((error) => {
    if (!isDatabaseUnavailable(error)) log.error({ err: error }, 'chaining the activity log failed')
  })
  const own = {
    text: operator.token,
    yields: config.adminToken === '' && config.databaseUrl !== '',
  }
  const isOwn = config.databaseUrl === '' && !isBeside
  const database = startDatabase({
    dataDir,
    url: config.databaseUrl,
    keeper: isOwn ? (keeper ?? (await keepServer(config, log, { replaceMissing }))) : null,
    password: async () => (await keptSecret(dataDir, PASSWORD_FILE)).value,
    prepare: async (reached) => {
      if (!(await agreeOnSecret(reached.db, secrets))) log.warn(REPLACED_FIRST)
      const { db, domainId } = reached
      operator.heard(await takeOperatorToken(db, hasher, domainId, own))
      await notifyPaused(db, domainId)
      const crowd = await connectionsOf(db, 1)
      if (!crowd.enough) log.warn(`${crowd.what}: ${crowd.advice}`)
      await work.start(reached)
      chaining.start(reached)
    },
    tell: (text) => log.info(text),
    onError: (error) => log.warn({ err: error }, 'the database'),
  })
  let deafen: () => Promise<void> = async () => {}
  void database.first.then(() => {
    const db = database.db()
    if (!db) return
    const onError = (error: unknown) =>
      log.warn({ err: error }, 'asking after the operator’s token failed')
    deafen = database.listen(TOKENS_CHANNEL, () => void operator.look(db).catch(onError))
  })
  return {
    work,
    database: {
      ...database,
      async stop() {
        await deafen()
        await chaining.stop()
        await database.stop()
      },
    },
  }
}
