/**
 * The guest's side of the sandbox wall: two host functions, removed from the global object before plugin code
 * runs, and the box of each entry. Only strings and numbers cross. Every post counts against the turn's
 * credit.
 */
import { LIMITS } from './limits.ts'
import { type Box, openBox, putMessage } from './outbox.ts'
import { deleteProperty, indexOf, slice } from './primordials.ts'

type Host = {
  __hostSync: (op: string, argsJson: string) => string
  __hostPost: (op: string, id: number, headJson: string, body: string) => void
}

// The cast: guest-isolate.ts has set them.
const { __hostSync: hostSync, __hostPost: hostPost } = globalThis as unknown as Host
deleteProperty(globalThis, '__hostSync')
deleteProperty(globalThis, '__hostPost')

let lastId = 0
let posts = 0
let chars = 0
let isOnThread = true

/**
 * Begins an entry of the host: renews the credit for posts and opens the entry's box. An entry on a thread of
 * its own may take long, so its log lines are sent at once.
 */
export function beginEntry(entry: number, oldest: number, onThread: boolean): Box {
  posts = 0
  chars = 0
  isOnThread = onThread
  return openBox(entry, oldest)
}

/** Returns a new id. Fetches and timers share the sequence. */
export function nextId(): number {
  lastId += 1
  return lastId
}

/** Sends a post if the turn's credit allows it. Reports whether it was sent. */
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
 *
 * @throws RangeError if the turn's credit is used up
 */
export function post(op: string, id: number, headJson: string, body: string): void {
  if (tryPost(op, id, headJson, body)) return
  throw new RangeError(
    `too much was sent at once: the limit is ${LIMITS.turnPosts} messages and ${LIMITS.turnChars} characters`,
  )
}

/** Refusal of a host operation. `kind` is the name of the error to throw. */
export class HostRefusal {
  readonly kind: string
  readonly message: string
  constructor(kind: string, message: string) {
    this.kind = kind
    this.message = message
  }
}

/**
 * Asks the host and waits for the answer.
 *
 * @throws HostRefusal with the host's message
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
