/**
 * The entries of the worker. Each returns its box: the messages and answers that it produced (outbox.ts).
 * Whatever the plugin has done to the built-ins, an answer is three texts: headJson, responseJson, rawJson.
 */
import { abortError } from './abort.ts'
import { beginEntry } from './bridge.ts'
import { closeCall, findCall, type GuestCall, openCall } from './calls.ts'
import { findHandler } from './connector.ts'
import { makeContext } from './context.ts'
import { errorHead, thrownHead, thrownText } from './failure.ts'
import { dropFetches, rejectFetches, settleFetch } from './fetch.ts'
import { LIMITS } from './limits.ts'
import { type Box, dropBoxes, keptBox, putMessage } from './outbox.ts'
import { attempt, isObject, own, ownData } from './own.ts'
import {
  apply,
  bare,
  defineProperty,
  isArray,
  parseJson,
  promiseThen,
  SafePromise,
  stringifyJson,
} from './primordials.ts'
import { clearAllTimers, fireTimer } from './timers.ts'
import { write } from './writers.ts'

// The engine alone calls `then` of a promise without a constructor: no species of a poisoned Promise runs.
const NO_CONSTRUCTOR = bare({ value: undefined })

/** headJson, responseJson, rawJson. */
type Answer = readonly [string, string, string]

/** Answer to a call whose reply exceeds its `maxMarks`. The worker makes the message. */
const TOO_LARGE: Answer = ['{"ok":false,"tooLarge":true}', '', '']

/**
 * Runs a call. Its answer is put into the box of the entry in which the call ends. Every entry receives its
 * own number, the number of the oldest entry whose box the worker has not received, and whether it runs on a
 * thread of its own.
 */
export function run(
  entry: number,
  oldest: number,
  onThread: boolean,
  callId: number,
  capability: string,
  callJson: string,
): Box {
  const box = beginEntry(entry, oldest, onThread)
  const call = openCall(callId, capability)
  start(call, callJson, (done) => finish(call, done))
  return box
}

/** Delivers the host's answer to a fetch or a timer. */
export function deliver(
  entry: number,
  oldest: number,
  onThread: boolean,
  id: number,
  headJson: string,
  body: string,
): Box {
  const box = beginEntry(entry, oldest, onThread)
  if (!settleFetch(id, headJson, body)) fireTimer(id)
  return box
}

/** Aborts a call: its signal fires and its open fetches reject. */
export function abort(entry: number, oldest: number, onThread: boolean, callId: number): Box {
  const box = beginEntry(entry, oldest, onThread)
  const call = findCall(callId)
  if (call === undefined || call.aborted) return box
  call.aborted = true
  rejectFetches(call)
  const { controller } = call
  if (controller)
    attempt(() => controller.abort(abortError('the call was aborted')), null, [], ignore)
  return box
}

/** Returns the box of an entry whose own result was lost to an unhandled rejection. */
export function collect(entry: number): Box {
  return keptBox(entry)
}

/** Drops the boxes of all entries before this one: the worker has received them. */
export function forget(before: number): void {
  dropBoxes(before)
}

/** Returns 1: the isolate is alive. */
export function ping(): number {
  return 1
}

function start(call: GuestCall, callJson: string, done: (answer: Answer) => void): void {
  const fail = (thrown: unknown): void =>
    done([thrownHead(call, thrown, rawOrNothing(call)), '', ''])
  const handler = findHandler(call.capability)
  if (handler === undefined) {
    const message = `the connector has no capability ${call.capability}`
    done([errorHead('not_implemented', message, {}), '', ''])
    return
  }
  let outcome: unknown
  try {
    const input = parseJson(callJson)
    const table = own(input, 'table')
    call.table = isArray(table) ? table : table === true
    const maxMarks = own(input, 'maxMarks')
    if (typeof maxMarks === 'number') call.maxMarks = maxMarks
    outcome = apply(handler, undefined, [own(input, 'request'), makeContext(call, input)])
  } catch (thrown) {
    fail(thrown)
    return
  }
  if (!isObject(outcome)) {
    done(success(call, outcome))
    return
  }
  const settled = sealed<unknown>((resolve) => resolve(outcome))
  void promiseThen(settled, (value) => done(success(call, value)), fail)
}

function success(call: GuestCall, value: unknown): Answer {
  const paged = isObject(value) && ownData(value, '__paged') === true ? value : null
  const payload = paged ? ownData(paged, 'response') : value
  if (payload === undefined) return invalid(`the handler of ${call.capability} returned nothing`)
  try {
    const written = write(call.capability, payload, call.table, call.maxMarks)
    if (written === 'over') return TOO_LARGE
    const response = written?.text ?? toJson(payload, `the reply of ${call.capability}`)
    const given = paged ? ownData(paged, 'cursor') : null
    const cursor = toJson(given === undefined ? null : given, `the cursor of ${call.capability}`)
    const raw = call.hasRaw ? toJson(call.raw, `the raw value of ${call.capability}`) : ''
    const size = response.length + cursor.length + raw.length
    if (size > LIMITS.replyChars) {
      return invalid(
        `the reply of ${call.capability} has ${size} characters: the limit is ${LIMITS.replyChars}`,
      )
    }
    // `leftOut` marks a reply that was checked while it was written.
    const checked = written === null ? '' : `,"leftOut":${written.leftOut}`
    const table = written?.isTable === true ? ',"table":true' : ''
    return [`{"ok":true,"cursor":${cursor}${checked}${table}}`, response, raw]
  } catch (thrown) {
    return invalid(thrown instanceof NotJson ? thrown.message : thrownText(thrown))
  }
}

/** Reason why a value is not JSON. Not an Error: no value that plugin code throws can pass for one. */
class NotJson {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

function toJson(value: unknown, what: string): string {
  let text: string | undefined
  try {
    text = stringifyJson(value)
  } catch (thrown) {
    throw new NotJson(`${what} cannot be written as JSON: ${thrownText(thrown)}`)
  }
  if (text === undefined) throw new NotJson(`${what} is not a JSON value, but a ${typeof value}`)
  return text
}

function rawOrNothing(call: GuestCall): string {
  if (!call.hasRaw) return ''
  try {
    const text = stringifyJson(call.raw)
    return text === undefined || text.length > LIMITS.replyChars ? '' : text
  } catch {
    return ''
  }
}

function invalid(message: string): Answer {
  return [errorHead('invalid_response', message, {}), '', '']
}

function finish(call: GuestCall, answer: Answer): void {
  if (call.ended) return
  const others = closeCall(call)
  dropFetches(call)
  if (others === 0) clearAllTimers()
  putMessage('answer', call.id, answer[0], answer[1], answer[2])
}

function sealed<T>(executor: (resolve: (value: T) => void) => void): Promise<T> {
  const promise = new SafePromise<T>(executor)
  defineProperty(promise, 'constructor', NO_CONSTRUCTOR)
  return promise
}

function ignore(): void {}
