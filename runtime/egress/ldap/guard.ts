/** Guards a connection to a directory: the framing of LDAP, and whether a search has further pages. */
import type { Socket } from 'node:net'
import { LDAP_LIMITS } from '../../contract/connector/ldap.ts'
import type { LdapEntry } from '../../contract/connector/ldap-context.ts'
import { createGuard, type Guard, GuardedSocket } from '../wire/guard.ts'
import { type HoldsBytes, readEntry, rememberNames } from './entries.ts'
import { pageCookie, readHeader, shapeOf } from './shape.ts'

export type LdapGuard = Guard & {
  /** Where the next page begins, as the last result said; null where there is none. */
  cookie(): Buffer | null
  /** Keeps the entries of the next reply: they are read here, and the library sees only how it ends. */
  collect(holdsBytes: HoldsBytes): LdapEntry[]
}

const SEQUENCE = 0x30

/** Guards an open connection. @param from `host:port`, for messages. */
export function guardLdap(socket: Socket, from: string): LdapGuard {
  let cookie: Buffer | null = null
  let holdsBytes: HoldsBytes | null = null
  let readName = rememberNames()
  let kept: LdapEntry[] = []
  const guard = createGuard(
    socket,
    from,
    {
      protocol: 'LDAP',
      sizeOf(bytes) {
        const sizes = readHeader(bytes)
        if (sizes === null || bytes[0] !== SEQUENCE) return null
        return sizes === 'short' ? 'short' : sizes.headerBytes + sizes.contentBytes
      },
      judge(message) {
        const read = holdsBytes === null ? undefined : readEntry(message, holdsBytes, readName)
        if (read === null) return null
        if (read !== undefined) {
          kept.push(read.entry)
          return { elements: read.elements, isItem: true, passes: false }
        }
        const shape = shapeOf(message)
        if (shape === null) return null
        const isResult = shape.kind === 'result'
        if (isResult) cookie = pageCookie(message)
        return { elements: shape.elements, isItem: !isResult, passes: true }
      },
      onRenew() {
        cookie = null
      },
      maxReplyBytes: LDAP_LIMITS.maxReplyBytes,
      maxReplyElements: LDAP_LIMITS.maxReplyElements,
      advice: 'ask for smaller pages or fewer attributes',
    },
    new GuardedSocket(socket),
  )
  return {
    ...guard,
    cookie: () => cookie,
    collect(given) {
      holdsBytes = given
      readName = rememberNames()
      kept = []
      return kept
    },
  }
}
