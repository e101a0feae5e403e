/** Hears what is said on a channel of the database, on a connection of its own that comes back by itself. */
import { Client, type ClientConfig } from 'pg'

/** Pause before the next try, in milliseconds. */
const RETRY_MS = 1000

/**
 * Listens until the answer is called. `hear` gets what is said; it is also called, with null, whenever the
 * connection is there (again): what was said meanwhile was missed.
 */
export function listen(
  connection: ClientConfig,
  channel: string,
  hear: (said: string | null) => void,
): () => Promise<void> {
  let stopped = false
  let client: Client | null = null
  let timer: NodeJS.Timeout | null = null

  async function open(): Promise<void> {
    const made = new Client({
      ...connection,
      application_name: 'keyway listening',
      keepAlive: true,
      connectionTimeoutMillis: 5000,
    })
    client = made
    // Lost or refused, the end is the same: another try.
    made.on('error', () => undefined)
    made.on('end', again)
    made.on('notification', ({ payload = '' }) => hear(payload))
    try {
      await made.connect()
      await made.query(`listen ${made.escapeIdentifier(channel)}`)
      hear(null)
    } catch {
      // Reported by the caller that queries the database.
      await made.end().catch(() => undefined)
      again()
    }
  }

  function again(): void {
    if (stopped || timer) return
    timer = setTimeout(() => {
      timer = null
      if (!stopped) void open()
    }, RETRY_MS)
    timer.unref()
  }

  void open()
  return async () => {
    stopped = true
    if (timer) clearTimeout(timer)
    await client?.end().catch(() => undefined)
  }
}
