/**
 * Watches whether the database answers and takes changes, and reads its clock, every two seconds on a
 * connection of its own.
 */
import { Client, type ClientConfig } from 'pg'
import { messageOf } from '../contract/errors/thrown.ts'
import type { SharedClock } from './shared-clock.ts'

/** Interval between questions, in milliseconds. */
const ASK_MS = 2000
/** Maximum wait for an answer, and for a connection, in milliseconds. */
const ANSWER_MS = 5000
/** How long the database may be away before the host reports it, in milliseconds. */
const GRACE_MS = 5000

export type AnswerWatch = {
  /**
   * Returns the problem as text while the database has been away for longer than the grace or takes no
   * changes, else null.
   */
  words(): string | null
  stop(): Promise<void>
}

const QUESTION = `select pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as reads_only,
  extract(epoch from clock_timestamp()) * 1000 as now_ms`

/**
 * Number of unanswered questions in a row from which the server is silent. A single one may be due to this
 * host, if it was suspended.
 */
const SILENT_QUESTIONS = 2

/**
 * Begins to ask, and sets the clock by each answer. Uses a connection of its own, because a pool whose
 * connections are all in use is no outage. `onSilent` is called for as long as the server neither refuses nor
 * answers, as a frozen one does: for the first time twelve seconds after its last answer.
 */
export function watchAnswers(
  connection: ClientConfig,
  clock: Pick<SharedClock, 'told'>,
  onSilent: () => void,
): AnswerWatch {
  let client: Client | null = null
  let stopped = false
  let timer: NodeJS.Timeout | null = null
  /** Time of the first question since the last answer. */
  let unansweredSinceMs: number | null = null
  let fault = 'it does not answer'
  let readsOnly = false
  /** Number of questions in a row that got no answer in time. */
  let inVain = 0

  async function ask(): Promise<void> {
    const askedMs = performance.now()
    unansweredSinceMs ??= askedMs
    try {
      client ??= await connected(connection, () => {
        client = null
      })
      const { rows } = await client.query(QUESTION)
      readsOnly = rows[0].reads_only
      clock.told(Number(rows[0].now_ms))
      unansweredSinceMs = null
      inVain = 0
    } catch (error) {
      fault = messageOf(error)
      const lost = client
      client = null
      await lost?.end().catch(() => undefined)
      inVain = performance.now() - askedMs < ANSWER_MS ? 0 : inVain + 1
      if (inVain >= SILENT_QUESTIONS) onSilent()
    }
  }

  function again(): void {
    timer = setTimeout(() => {
      asking = ask().finally(() => {
        if (!stopped) again()
      })
    }, ASK_MS)
    timer.unref()
  }

  let asking = Promise.resolve()
  again()
  return {
    words() {
      if (unansweredSinceMs !== null && performance.now() - unansweredSinceMs > GRACE_MS)
        return `the database, which is away: ${fault}`
      return readsOnly ? READS_ONLY : null
    },
    async stop() {
      stopped = true
      if (timer) clearTimeout(timer)
      await client?.end().catch(() => undefined)
      await asking
    },
  }
}

const READS_ONLY =
  'a database that takes changes: this one is read only (a standby, or default_transaction_read_only); promote it, or name the primary in DATABASE_URL'

async function connected(connection: ClientConfig, onLost: () => void): Promise<Client> {
  const made = new Client({
    ...connection,
    application_name: 'keyway watching',
    keepAlive: true,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
  })
  made.on('error', onLost)
  made.on('end', onLost)
  await made.connect()
  return made
}
