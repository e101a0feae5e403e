/** Guards a connection to a directory: the framing of LDAP, and the cookies of paged searches. */
import type { Socket } from 'node:net'
import { LDAP_LIMITS } from '../../contract/connector/ldap.ts'
import { createGuard, type Guard, GuardedSocket } from '../wire/guard.ts'
import { createEntryReader, type EntryReader } from './entries.ts'
import { leaving } from './failures.ts'
import { noticeOf, pageCookie, shapeOf, sizeAt } from './reply-shape.ts'

export type LdapGuard = Guard & {
  /** Returns the cookie of the next page from the last result, or null if there is none. */
  cookie(): Buffer | null
  /**
   * Reads the entries of the next reply. The library sees only its end.
   *
   * @param binary Further attributes whose values are bytes, in lower case.
   */
  collect(binary: readonly string[]): EntryReader
}

const SEQUENCE = 0x30

/**
 * Minimum capacity of a reader, in bytes of JSON. A later search starts with the size of the previous reply.
 */
const FIRST_BYTES = 16 * 1024
/** Factor on that size, as the next page of a search is rarely much longer. */
const SPARE = 1.05

/** Guards an open connection. @param from `host:port`, for messages. */
export function guardLdap(socket: Socket, from: string): LdapGuard {
  let cookie: Buffer | null = null
  let reader: EntryReader | null = null
  /** Size of the last reply, in bytes of JSON. */
  let lastBytes = 0
  let isAhead = false
  const guard = createGuard(
    socket,
    from,
    {
      protocol: 'LDAP',
      sizeOf: (bytes, at) => (bytes[at] === SEQUENCE ? sizeAt(bytes, at) : null),
      judge(bytes, at, stop) {
        const elements = reader?.read(bytes, at, stop)
        if (elements === null) return null
        if (elements !== undefined) return { values: elements, isItem: true, passes: false }
        const message = bytes.subarray(at, stop)
        const shape = shapeOf(message)
        if (shape === null) return null
        const notice = noticeOf(message)
        if (notice !== null) throw leaving(notice, from)
        const isResult = shape.kind === 'result'
        if (isResult) cookie = pageCookie(message)
        return { values: shape.elements, isItem: !isResult, passes: true }
      },
      onRenew() {
        cookie = null
      },
      maxReplyBytes: LDAP_LIMITS.maxReplyBytes,
      maxReplyValues: LDAP_LIMITS.maxReplyValues,
      advice: 'ask for smaller pages or fewer attributes',
    },
    new GuardedSocket(socket),
  )

  function leaveReader(): void {
    lastBytes = reader?.bytes ?? lastBytes
    reader = null
  }

  return {
    ...guard,
    allow(allowance) {
      const end = guard.allow(allowance)
      isAhead = false
      return () => {
        end()
        // The reply was taken. An idle connection must not keep its memory.
        if (!isAhead) leaveReader()
      }
    },
    wait() {
      isAhead = true
      guard.wait()
    },
    cookie: () => cookie,
    collect(binary) {
      leaveReader()
      reader = createEntryReader(binary, Math.max(FIRST_BYTES, Math.ceil(SPARE * lastBytes)))
      return reader
    },
  }
}
