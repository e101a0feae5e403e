/**
 * A third-party system made of a case's exchanges. It replaces only the network: requests pass through the
 * connector's own egress first. A request that production would refuse is refused here too, and comparisons
 * see the request as it would be sent, with the case's own secrets.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Exchange } from '../contract/connector/cases.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import type { ExchangeOptions, OutgoingRequest, ReplyHead } from '../egress/exchange/exchange.ts'
import { prepareHeaders } from '../egress/exchange/headers.ts'
import { differences } from './differences.ts'

type ScriptedUpstream = {
  exchange(url: URL, request: OutgoingRequest, options: ExchangeOptions): Promise<ReplyHead>
  /**
   * Returns the findings: unexpected requests, and expected requests that were not made. `astray` is set after an
   * unexpected request: everything after it is its consequence.
   */
  judge(): { findings: string[]; astray: boolean }
}

/**
 * Makes an upstream that answers with each exchange once. Equal requests are answered in the order of their
 * exchanges.
 */
export function createScriptedUpstream(exchanges: readonly Exchange[]): ScriptedUpstream {
  const left = [...exchanges]
  const findings: string[] = []
  let astray = false
  return {
    async exchange(url, request, { userAgent, limits, onSend }) {
      prepareHeaders(request.headers, { userAgent, maxHeaderBytes: limits.maxHeaderBytes })
      const index = left.findIndex((one) => sameRequest(one.request, request.method, url))
      const asked = `${request.method} ${url.pathname}${url.search}`
      if (index === -1) {
        astray = true
        findings.push(
          `unexpected request ${asked}; expected ${left.map((one) => one.request).join(', ') || 'none'}`,
        )
        throw new RuntimeError('upstream_rejected', `the case has no exchange for ${asked}`)
      }
      const [exchange] = left.splice(index, 1)
      if (exchange === undefined) throw new Error('an exchange that was found is gone')
      findings.push(...sentOtherwise(exchange, request, asked))
      onSend(request.body?.byteLength ?? 0)
      return replyOf(exchange)
    },
    judge: () => ({
      astray,
      findings: astray
        ? findings
        : [...findings, ...left.map((one) => `expected request ${one.request} was not made`)],
    }),
  }
}

function sameRequest(expected: string, method: string, url: URL): boolean {
  const space = expected.indexOf(' ')
  const wanted = URL.parse(expected.slice(space + 1), `${url.protocol}//${url.host}`)
  return (
    wanted !== null &&
    expected.slice(0, space) === method &&
    wanted.pathname === url.pathname &&
    isDeepStrictEqual([...wanted.searchParams].sort(), [...url.searchParams].sort())
  )
}

function sentOtherwise(exchange: Exchange, request: OutgoingRequest, asked: string): string[] {
  const sent = new Map(request.headers.map(([name, value]) => [name.toLowerCase(), value]))
  const headers = Object.entries(exchange.headers ?? {})
    .filter(([name, value]) => sent.get(name.toLowerCase()) !== value)
    .map(
      ([name, value]) =>
        `${asked}: header ${name} should be ${value}, is ${sent.get(name.toLowerCase()) ?? 'missing'}`,
    )
  if (exchange.body === undefined) return headers
  const text = Buffer.from(request.body ?? []).toString('utf8')
  const body = typeof exchange.body === 'string' ? text : tryJson(text)
  return [...headers, ...differences(`${asked}: body`, exchange.body, body)]
}

function replyOf({ reply }: Exchange): ReplyHead {
  const { status, headers, body } = reply
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  const type: [string, string][] =
    text !== '' && typeof body !== 'string' ? [['content-type', 'application/json']] : []
  const own = Object.entries(headers).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    value,
  ])
  const named = new Set(own.map(([name]) => name))
  return {
    status,
    headers: [...type.filter(([name]) => !named.has(name)), ...own],
    read: async () => Buffer.from(text),
    discard: () => {},
  }
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Compared as a text, and found to differ.
    return text
  }
}
