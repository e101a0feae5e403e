/** Audit record of every hop: its destination and outcome, never its content. */
import { cut } from '../../bounded/cut.ts'
import type { UpstreamRecord } from '../../contract/connector/upstream-record.ts'
import { decodeSegment } from './path-segments.ts'
import { tellQuery } from './query-record.ts'

/**
 * Creates the record of a request of `ctx.ldap` or `ctx.sql`. Names and sizes are added when it was judged,
 * values never.
 */
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

/** Creates the record of a hop that has been parsed but not judged. */
export const createRecord = (url: URL, method: string, redact?: Redact): UpstreamRecord => ({
  ...createBridgeRecord(method),
  host: url.host,
  path: cut(redactPath(url.pathname, redact), 200),
  query: tellQuery(url.search, redact),
})

type Redact = (text: string) => string

/**
 * Redacts a path, as a whole and by segment, because a secret may be percent-encoded in several ways. Cut the
 * path only afterwards: the beginning of a secret would not be found.
 */
export function redactPath(pathname: string, redact: Redact | undefined): string {
  if (redact === undefined) return pathname
  return redact(pathname)
    .split('/')
    .map((segment) => {
      const plain = segment.includes('%') ? decodeSegment(segment) : null
      if (plain === null) return segment
      const redacted = redact(plain)
      return redacted === plain ? segment : redacted
    })
    .join('/')
}

/** Reports whether a method may change data at the upstream. */
export const isWriting = (method: string): boolean => method !== 'GET' && method !== 'HEAD'
