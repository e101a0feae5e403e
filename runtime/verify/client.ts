/** Calls a connector like an ordinary caller and records the outcome. */
import { Agent, request } from 'node:http'
import { messageOf } from '../contract/errors/thrown.ts'

/** Outcome of a call. */
export type Ended = {
  /** `answer`, a wire code, or the problem if there was no envelope. */
  ending: string
  message: string
  /** Body and all header values. Searched for forbidden texts. */
  text: string
  tookMs: number
  /** Token of the next page in an answer, or null if there is none. */
  nextPage: string | null
}

type CallOptions = {
  token: string
  /** Sends the token as the password of a user. */
  basic?: boolean | undefined
  settings?: object
  /** JSON text of the request. */
  requestJson?: string
  /** The requested page, as JSON. */
  pageToken?: string | null
  /** Longest wait for an answer, in milliseconds. */
  patienceMs: number
}

export type VerifyClient = {
  call(connector: string, capability: string, options: CallOptions): Promise<Ended>
  get(path: string, patienceMs: number, token?: string): Promise<{ status: number; text: string }>
  close(): void
}

/**
 * Maximum size of an answer that is read. The largest permitted answer has 32 MiB; a larger one is a
 * finding.
 */
const MAX_ANSWER_BYTES = 80 * 1024 * 1024

export function createClient(url: string, connectorsPath: string): VerifyClient {
  const agent = new Agent({ keepAlive: true })

  function send(
    at: string,
    body: string | null,
    patienceMs: number,
    headers: Record<string, string>,
  ): Promise<{ status: number; text: string; headerText: string }> {
    return new Promise((resolve, reject) => {
      const outgoing = request(url + at, { agent, method: body === null ? 'GET' : 'POST', headers })
      const timer = setTimeout(
        () => outgoing.destroy(new Error(`no answer within ${patienceMs} ms`)),
        patienceMs,
      )
      outgoing.on('response', (incoming) => {
        const chunks: Buffer[] = []
        let bytes = 0
        incoming.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes > MAX_ANSWER_BYTES) outgoing.destroy(new Error('the answer does not end'))
          else chunks.push(chunk)
        })
        incoming.on('error', reject)
        incoming.on('end', () => {
          clearTimeout(timer)
          const text = Buffer.concat(chunks).toString('utf8')
          const headerText = JSON.stringify(incoming.headers)
          resolve({ status: incoming.statusCode ?? 0, text, headerText })
        })
      })
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        clearTimeout(timer)
        // The server closed an idle connection at the moment in which it was reused.
        if (outgoing.reusedSocket && error.code === 'ECONNRESET')
          send(at, body, patienceMs, headers).then(resolve, reject)
        else reject(error)
      })
      outgoing.end(body ?? undefined)
    })
  }

  return {
    async call(connector, capability, options) {
      const { token, basic, settings = {}, requestJson, pageToken = null, patienceMs } = options
      const held = basic ? { basic: { username: 'tenant', password: token } } : { token: { token } }
      const auth = JSON.stringify(held)
      const asked = requestJson ?? (capability === 'get_account' ? '{"account_id":"a"}' : '{}')
      const page = pageToken === null ? '' : `,"page":{"token":${JSON.stringify(pageToken)}}`
      const body = `{"auth":${auth},"settings":${JSON.stringify(settings)},"request":${asked}${page}}`
      const begun = performance.now()
      try {
        const { text, headerText } = await send(
          `${connectorsPath}/${connector}/${capability}`,
          body,
          patienceMs,
          { 'content-type': 'application/json' },
        )
        return { ...readEnvelope(text), text: headerText + text, tookMs: performance.now() - begun }
      } catch (error) {
        const message = messageOf(error)
        const tookMs = performance.now() - begun
        return { ending: 'no answer', message, text: '', tookMs, nextPage: null }
      }
    },
    async get(path, patienceMs, token) {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const { status, text } = await send(path, null, patienceMs, headers)
      return { status, text }
    },
    close: () => agent.destroy(),
  }
}

function readEnvelope(text: string): Pick<Ended, 'ending' | 'message' | 'nextPage'> {
  let body: {
    is_error?: unknown
    error?: { error_code?: unknown; message?: unknown }
    page?: { token?: unknown } | null
  }
  try {
    body = JSON.parse(text)
  } catch {
    return { ending: 'not JSON', message: text.slice(0, 200), nextPage: null }
  }
  const { token } = body.page ?? {}
  const nextPage = typeof token === 'string' ? token : null
  if (body.is_error !== true) return { ending: 'answer', message: '', nextPage }
  const { error_code: code, message } = body.error ?? {}
  return { ending: String(code), message: String(message), nextPage: null }
}
