/** The audit line of every hop: where it went and how it ended, never what it carried. */
import { cut } from '../../bounded/cut.ts'
import { decodeSegment } from './path-segments.ts'
import { tellQuery } from './query-record.ts'

/** One hop. Sizes in bytes, `ms` from judging to the end of the body. */
export type EgressRecord = {
  method: string
  /** Host, with the port where it is not the scheme's own. */
  host: string
  /** Without the call's secrets, then cut at 200 characters; no query. */
  path: string
  /** Names, and values that are no secrets, with the question mark; empty for none. */
  query: string
  /** What is declared to be asked for by this name, where it has one: it holds no values. For errors, not for logs. */
  text?: string
  /** False for a hop that was refused before it was handed to a connection. */
  sent: boolean
  status: number | null
  /** Our own error code, or `null`. */
  error: string | null
  /** Until when the upstream asked to be left alone, in milliseconds since the epoch; 0 where it did not. */
  askedUntilMs: number
  sentBytes: number
  receivedBytes: number
  /** When it began, in milliseconds since the epoch. */
  beganAtMs: number
  ms: number
}

/** A new record of a request of `ctx.ldap` or `ctx.sql`: names and sizes come once it was judged, values never. */
export const createBridgeRecord = (method: string): EgressRecord => ({
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
export const createRecord = (url: URL, method: string, redact?: Redact): EgressRecord => ({
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
