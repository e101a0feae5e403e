/** Whether the database answers, takes changes, and what time it is there: asked every two seconds on a connection of its own. */
import { Client, type ClientConfig } from 'pg'
import { messageOf } from '../contract/errors/thrown.ts'
import type { SharedClock } from './shared-clock.ts'

/** How often it is asked, in milliseconds. */
const ASK_MS = 2000
/** How long an answer is waited for, and a connection, in milliseconds. */
const ANSWER_MS = 5000
/** How long it may be away before the host says that it waits for it, in milliseconds. */
const GRACE_MS = 5000

export type AnswerWatch = {
  /** As text, while it has been away for longer than the grace, or takes no changes; else null. */
  words(): string | null
  stop(): Promise<void>
}

const QUESTION = `select pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as reads_only,
  extract(epoch from clock_timestamp()) * 1000 as now_ms`

/** So many questions in a row without any answer, and the server is silent. One alone may be this host's, which was stopped. */
const SILENT_QUESTIONS = 2

/**
 * Begins to ask, and sets the clock by each answer. A pool whose connections are all in use is no outage: so this has
 * one of its own. `onSilent` is called for as long as the server refuses nothing and answers nothing, such as one
 * that is frozen: twelve seconds after its last answer first.
 */
export function watchAnswers(
  connection: ClientConfig,
  clock: Pick<SharedClock, 'told'>,
  onSilent: () => void,
): AnswerWatch {
  let client: Client | null = null
  let stopped = false
  let timer: NodeJS.Timeout | null = null
  /** When the first question was asked that was not followed by an answer. */
  let unansweredSinceMs: number | null = null
  let fault = 'it does not answer'
  let readsOnly = false
  /** Questions in a row that were waited for in vain. */
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
