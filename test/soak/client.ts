/** Sends the calls of a soak over persistent connections, and measures how late each answer is. */
import { Agent, request } from 'node:http'
import type { Stalls } from './stalls.ts'

/**
 * The outcome of a call. `code` is null for a success, an error code, or the reason if there was no envelope.
 */
export type Got = {
  code: string | null
  body: { response?: unknown; page?: { token: string } | null; error?: { message: string } }
  text: string
  /** Time after its deadline, without this process's own stalls; negative if the answer was in time. */
  lateMs: number
  tookMs: number
}

export type CallWish = {
  /** Path on the host. */
  at: string
  /** Without a body, the call is a GET. */
  body?: object
  token?: string
  /** The answer is not JSON. */
  isText?: boolean
  deadlineMs: number
  /** Hangs up after this time, in milliseconds. */
  hangUpMs?: number
}

export type SoakClient = {
  call(wish: CallWish): Promise<Got>
  /** Closes its connections; later calls open new ones. */
  letGo(): void
}

/** How long to wait for an answer after its deadline, in milliseconds. */
const PATIENCE_MS = 10_000

export function createSoakClient(url: string, stalls: Stalls): SoakClient {
  const agent = new Agent({ keepAlive: true })

  function send({ at, body, token, deadlineMs, hangUpMs }: CallWish): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      }
      const outgoing = request(url + at, { agent, method: body ? 'POST' : 'GET', headers })
      const end = (why: string) => outgoing.destroy(new Error(why))
      const timer = setTimeout(
        () => end(hangUpMs === undefined ? 'no answer at all' : 'hung up'),
        hangUpMs ?? deadlineMs + PATIENCE_MS,
      )
      outgoing.on('response', (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          clearTimeout(timer)
          resolve(Buffer.concat(chunks).toString('utf8'))
        })
      })
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        clearTimeout(timer)
        // The server closed the idle connection at the moment when it was reused.
        if (outgoing.reusedSocket && error.code === 'ECONNRESET')
          send({ at, deadlineMs, ...(body && { body }), ...(token && { token }) }).then(
            resolve,
            reject,
          )
        else reject(error)
      })
      outgoing.end(body && JSON.stringify(body))
    })
  }

  return {
    async call(wish) {
      const beganMs = performance.now()
      const measured = () => {
        const tookMs = performance.now() - beganMs
        return { tookMs, lateMs: tookMs - stalls.since(beganMs) - wish.deadlineMs }
      }
      try {
        const text = await send(wish)
        const times = measured()
        const body = wish.isText ? {} : JSON.parse(text)
        return { code: body.is_error ? body.error.error_code : null, body, text, ...times }
      } catch (error) {
        return { code: (error as Error).message, body: {}, text: '', ...measured() }
      }
    },
    letGo: () => agent.destroy(),
  }
}
