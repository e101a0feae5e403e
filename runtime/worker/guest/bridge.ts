/**
 * The guest's end of the wall: two host functions taken off the global before plugin code runs, and the
 * box of each entry. Only strings and numbers cross. Every post passes the turn's credit.
 */
import { LIMITS } from './limits.ts'
import { type Box, openBox, putMessage } from './outbox.ts'
import { deleteProperty, indexOf, slice } from './primordials.ts'

type Host = {
  __hostSync: (op: string, argsJson: string) => string
  __hostPost: (op: string, id: number, headJson: string, body: string) => void
}

// The cast: guest-isolate.ts has put them there.
const { __hostSync: hostSync, __hostPost: hostPost } = globalThis as unknown as Host
deleteProperty(globalThis, '__hostSync')
deleteProperty(globalThis, '__hostPost')

let lastId = 0
let posts = 0
let chars = 0
let isOnThread = true

/**
 * Begins an entry of the host: renews the credit for posts and opens its box. On a thread of its own an
 * entry may take long: its log lines leave at once.
 */
export function beginEntry(entry: number, oldest: number, onThread: boolean): Box {
  posts = 0
  chars = 0
  isOnThread = onThread
  return openBox(entry, oldest)
}

/** A new id, for fetches and timers alike. */
export function nextId(): number {
  lastId += 1
  return lastId
}

/** Sends a post if the turn's credit allows it. */
export function tryPost(op: string, id: number, headJson: string, body: string): boolean {
  const size = headJson.length + body.length
  if (posts >= LIMITS.turnPosts || chars + size > LIMITS.turnChars) return false
  posts += 1
  chars += size
  const atOnce = isOnThread && op === 'log'
  if (atOnce || !putMessage(op, id, headJson, body, '')) hostPost(op, id, headJson, body)
  return true
}

/**
 * Sends a post.
 * @throws RangeError when the turn's credit is gone
 */
export function post(op: string, id: number, headJson: string, body: string): void {
  if (tryPost(op, id, headJson, body)) return
  throw new RangeError(
    `too much was sent at once: the limit is ${LIMITS.turnPosts} messages and ${LIMITS.turnChars} characters`,
  )
}

/** A host operation that was refused: `kind` is the name of the error to throw. */
export class HostRefusal {
  readonly kind: string
  readonly message: string
  constructor(kind: string, message: string) {
    this.kind = kind
    this.message = message
  }
}

/**
 * Asks the host and waits.
 * @throws HostRefusal with what the host said
 */
export function ask(op: string, argsJson: string): string {
  const answer = hostSync(op, argsJson)
  const text = slice(answer, 1)
  if (answer[0] === '+') return text
  const colon = indexOf(text, ': ')
  throw new HostRefusal(
    colon < 0 ? 'OperationError' : slice(text, 0, colon),
    colon < 0 ? text : slice(text, colon + 2),
  )
}
