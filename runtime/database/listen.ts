/** Hears what is said on channels of the database, on one connection of its own that comes back by itself. */
import { Client, type ClientConfig } from 'pg'
import { abandonSession } from './wire.ts'

/** Pause before the next try, in milliseconds. */
const RETRY_MS = 1000

/** Gets what is said; null whenever the connection is there (again): what was said meanwhile was missed. */
type Hear = (said: string | null) => void

type Listening = {
  /** Listens until the answer is called. The first channel makes the connection, the end of the last one closes it. */
  on(channel: string, hear: Hear): () => Promise<void>
  /** Ends the connection to a server that is silent; it comes back by itself. */
  drop(): void
}

/** Makes it; nothing is connected before the first channel. */
export function createListening(connection: ClientConfig): Listening {
  const hearers = new Map<string, Set<Hear>>()
  let client: Client | null = null
  /** The connection takes statements: channels that come now are said to it one by one. */
  let isOpen = false
  let timer: NodeJS.Timeout | null = null
  /** What was said to it last: one statement after another. */
  let said: Promise<unknown> = Promise.resolve()

  const say = (to: Client, words: string, channel: string): Promise<unknown> => {
    const statement = `${words} ${to.escapeIdentifier(channel)}`
    said = said.catch(() => undefined).then(() => to.query(statement))
    return said
  }

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
    made.on('end', () => again(made))
    made.on('notification', ({ channel, payload = '' }) => {
      for (const hear of hearers.get(channel) ?? []) hear(payload)
    })
    try {
      await made.connect()
      if (client !== made) return
      isOpen = true
      await Promise.all([...hearers.keys()].map((channel) => begin(made, channel)))
    } catch {
      // Reported by the caller that queries the database.
      await made.end().catch(() => undefined)
      again(made)
    }
  }

  async function begin(on: Client, channel: string): Promise<void> {
    await say(on, 'listen', channel)
    for (const hear of hearers.get(channel) ?? []) hear(null)
  }

  function again(lost: Client): void {
    if (client !== lost) return
    client = null
    isOpen = false
    if (hearers.size === 0 || timer) return
    timer = setTimeout(() => {
      timer = null
      if (hearers.size > 0) void open()
    }, RETRY_MS)
    timer.unref()
  }

  async function leave(channel: string, hear: Hear): Promise<void> {
    const ofChannel = hearers.get(channel)
    ofChannel?.delete(hear)
    if (ofChannel?.size === 0) hearers.delete(channel)
    const left = client
    if (hearers.size > 0) {
      // Nothing hears it any more, or the connection is lost: then it is not listened to either.
      if (left && isOpen && !hearers.has(channel))
        await say(left, 'unlisten', channel).catch(() => undefined)
      return
    }
    if (timer) clearTimeout(timer)
    timer = null
    client = null
    isOpen = false
    await left?.end().catch(() => undefined)
  }

  return {
    on(channel, hear) {
      const known = hearers.get(channel) ?? new Set()
      hearers.set(channel, known.add(hear))
      const on = client
      // A connection that fails at this ends, and begins again with all channels.
      if (on && isOpen) begin(on, channel).catch(() => on.end().catch(() => undefined))
      else if (!on && !timer) void open()
      return () => leave(channel, hear)
    },
    drop() {
      if (client) abandonSession(client)
    },
  }
}
