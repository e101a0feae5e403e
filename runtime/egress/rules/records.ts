/** The audit line of every hop: where it went and how it ended, never what it carried. */
import { cut } from '../../bounded/cut.ts'
import type { UpstreamRecord } from '../../contract/connector/upstream-record.ts'
import { decodeSegment } from './path-segments.ts'
import { tellQuery } from './query-record.ts'

/** A new record of a request of `ctx.ldap` or `ctx.sql`: names and sizes come once it was judged, values never. */
export const createBridgeRecord = (method: string): UpstreamRecord => ({
  method,
  ...{ host: '', path: '', query: '' },
  sent: false,
  status: null,
  error: null,
  askedUntilMs: 0,
  sentBytes: 0,
  receivedBytes: 0,
  beganAtMs: Date.now(),
  ms: 0,
})

/** A new record, for a hop that has been parsed and not been judged yet. */
export const createRecord = (url: URL, method: string, redact?: Redact): UpstreamRecord => ({
  ...createBridgeRecord(method),
  host: url.host,
  path: cut(redactPath(url.pathname, redact), 200),
  query: tellQuery(url.search, redact),
})

type Redact = (text: string) => string

/**
 * A path without secrets, whole and by segment: a secret may be percent-encoded in more ways than one.
 * To be cut afterwards: the beginning of a secret is not found any more.
 */
export function redactPath(pathname: string, redact: Redact | undefined): string {
  if (redact === undefined) return pathname
  return redact(pathname)
    .split('/')
    .map((segment) => {
      const plain = segment.includes('%') ? decodeSegment(segment) : null
      if (plain === null) return segment
      const told = redact(plain)
      return told === plain ? segment : told
    })
    .join('/')
}

/** True for methods that may change something at the upstream. */
export const isWriting = (method: string): boolean => method !== 'GET' && method !== 'HEAD'
