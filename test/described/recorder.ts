/**
 * A loopback proxy between a connector and the server that stands in for its system. It checks every
 * exchange against the vendor's own description. Tables list the known differences of the stand-in, with
 * their reasons: a difference that is in no table is a finding, and so is a row that is no longer needed.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createJudge } from './operations.ts'

export type Request = { method: string; target: string; headers: Message['headers']; body: string }
export type Reply = Message & { status: number }
type Message = { headers: Record<string, string | string[] | undefined>; body: string }

/** A difference between the stand-in and the description; the connector gets the answer unchanged. */
export type Deviation = { operation: string; finding: RegExp; why: string }

/** A request that the stand-in cannot serve: answered here, as the vendor would. */
export type Mend = {
  operation: RegExp
  why: string
  answer(request: Request, forward: (other?: Partial<Request>) => Promise<Reply>): Promise<Reply>
}

export type RecorderOptions = {
  /** Origin of the stand-in. */
  upstream: string
  description: object
  deviations: readonly Deviation[]
  mends: readonly Mend[]
  /** Targets that are not part of the description: forwarded and not checked. */
  outside: RegExp
}

export type Recorder = {
  /** Origin to call instead of the stand-in's. */
  url: string
  /** Differences from the description that are in no table, each once. */
  findings(): string[]
  /** Reasons of the table rows that were not needed. */
  unused(): string[]
  /** Operations of the description that were called. */
  operations(): string[]
  stop(): Promise<void>
}

/** A reply with JSON. */
export const json = (status: number, value: unknown): Reply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})

export async function startRecorder(options: RecorderOptions): Promise<Recorder> {
  const { upstream, deviations, mends, outside } = options
  const judge = createJudge(options.description)
  const findings = new Set<string>()
  const operations = new Set<string>()
  const used = new Set<object>()
  const judgedBefore = new Set<string>()

  const answer = async (asked: Request): Promise<Reply> => {
    const forward = (other: Partial<Request> = {}) => send(upstream, { ...asked, ...other })
    if (outside.test(asked.target)) return forward()
    const mend = mends.find((one) =>
      one.operation.test(`${asked.method} ${asked.target.replace(/\?.*/, '')}`),
    )
    if (mend) used.add(mend)
    const reply = mend ? await mend.answer(asked, forward) : await forward()
    // Repeated exchanges are often identical: each is checked once.
    const seen = [asked.method, asked.target, asked.body, reply.status, reply.body].join('\n')
    if (judgedBefore.has(seen)) return reply
    judgedBefore.add(seen)
    const judged = judge({
      ...asked,
      sent: parsed(asked.body),
      status: reply.status,
      answered: parsed(reply.body),
    })
    operations.add(judged.operation)
    for (const finding of judged.findings) {
      const known = deviations.find(
        (one) => one.operation === judged.operation && one.finding.test(finding),
      )
      if (known) used.add(known)
      else findings.add(`${judged.operation}: ${finding.replace(/\/\d+\b/g, '/N')}`)
    }
    return reply
  }

  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing, answer).catch((error: unknown) => {
      findings.add(`${incoming.method} ${incoming.url}: ${String(error)}`)
      outgoing.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    findings: () => [...findings],
    unused: () => [...deviations, ...mends].filter((one) => !used.has(one)).map(({ why }) => why),
    operations: () => [...operations].sort(),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function handle(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: (request: Request) => Promise<Reply>,
): Promise<void> {
  const { method = 'GET', url: target = '/', headers } = incoming
  const {
    status,
    headers: told,
    body,
  } = await answer({
    method,
    target,
    headers,
    body: await text(incoming),
  })
  const { connection: _1, 'keep-alive': _2, 'transfer-encoding': _3, ...rest } = told
  outgoing.writeHead(status, { ...rest, 'content-length': Buffer.byteLength(body) })
  outgoing.end(body)
}

/** Keeps the Host header: the stand-in builds its links to the next page from it. */
function send(upstream: string, { method, target, headers, body }: Request): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { 'content-length': _1, 'transfer-encoding': _2, ...rest } = headers
    const length = body === '' ? {} : { 'content-length': Buffer.byteLength(body) }
    const outgoing = request(new URL(target, upstream), {
      method,
      headers: { ...rest, ...length, 'accept-encoding': 'identity' },
    })
    outgoing.on('error', reject)
    outgoing.on('response', (reply) => {
      text(reply).then(
        (told) => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: told }),
        reject,
      )
    })
    outgoing.end(body)
  })
}

async function text(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

const parsed = (body: string): unknown => (body === '' ? undefined : JSON.parse(body))
