/** A receiver of webhooks on loopback. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Received = { path: string; headers: IncomingHttpHeaders; text: string }

export type Receiver = {
  /** Host and port, for the egress grant. */
  host: string
  url: string
  received: Received[]
  /** Sets the reply from now on; it is 200 and `{}` at first. */
  answer(with_: (reply: ServerResponse, request: Received) => void): void
  close(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let answering: (reply: ServerResponse, request: Received) => void = (reply) => reply.end('{}')
  const server = createServer(async (request, reply) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = String(Buffer.concat(chunks))
    const one = { path: request.url ?? '', headers: request.headers, text }
    received.push(one)
    answering(reply, one)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    url: `http://${host}/hook`,
    received,
    answer(with_) {
      answering = with_
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A reply with a status and a text. */
export const answering =
  (status: number, text = '') =>
  (reply: ServerResponse) =>
    void reply.writeHead(status, { 'content-type': 'application/json' }).end(text)
