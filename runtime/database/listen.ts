/** Listens on channels of the database, on one connection of its own that reconnects by itself. */
import { Client, type ClientConfig } from 'pg'
import { abandonSession } from './wire.ts'

/** Pause before the next attempt, in milliseconds. */
const RETRY_MS = 1000

/**
 * Receives a notification. Receives null whenever the connection is made or made again: notifications may
 * have been missed before.
 */
type Hear = (said: string | null) => void

type Listening = {
  /**
   * Listens until the returned function is called. The first channel opens the connection, the end of the
   * last one closes it.
   */
  on(channel: string, hear: Hear): () => Promise<void>
  /** Drops the connection to a silent server. It reconnects by itself. */
  drop(): void
}

/** Makes a listener. It does not connect before the first channel. */
export function createListening(connection: ClientConfig): Listening {
  const hearers = new Map<string, Set<Hear>>()
  let client: Client | null = null
  /** Whether the connection takes statements. New channels are then added one by one. */
  let isOpen = false
  let timer: NodeJS.Timeout | null = null
  /** Last statement on the connection: statements run one after another. */
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
    // Whether the connection was lost or refused, it is tried again.
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
      // The caller that queries the database reports the error.
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
      // The channel has no listeners left. If this fails, the connection is lost, and with it the
      // subscription.
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
      // If this fails, the connection ends, and a new one begins with all channels.
      if (on && isOpen) begin(on, channel).catch(() => on.end().catch(() => undefined))
      else if (!on && !timer) void open()
      return () => leave(channel, hear)
    },
    drop() {
      if (client) abandonSession(client)
    },
  }
}
