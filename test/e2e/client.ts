/** An HTTP client that can send invalid requests, many of which fetch would refuse. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http'

/** A request. A list as the body is sent in chunks, without a length. */
export type Sent = {
  method?: string
  headers?: Record<string, string>
  body?: string | Buffer | readonly (string | Buffer)[]
}

export type Received = { status: number; headers: IncomingHttpHeaders; text: string }

const agent = new Agent({ keepAlive: true })

/** Sends one request; also resolves with the answer if the server stops reading the request. */
export function send(url: string, { method = 'GET', headers = {}, body }: Sent): Promise<Received> {
  return new Promise((resolve, reject) => {
    const chunked = Array.isArray(body)
    const whole = chunked || body === undefined ? null : Buffer.from(body as string | Buffer)
    const outgoing = request(url, {
      method,
      agent,
      headers: { ...(whole ? { 'content-length': String(whole.length) } : {}), ...headers },
    })
    let answered = false
    outgoing.on('response', (incoming) => {
      answered = true
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      )
    })
    // After an answer, a reset only means that the rest of the body was not read.
    outgoing.on('error', (error) => {
      if (!answered) reject(error)
    })
    if (chunked) for (const chunk of body) outgoing.write(chunk)
    outgoing.end(whole ?? undefined)
  })
}
