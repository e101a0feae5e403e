import { tryPost } from './bridge.ts'
import { type GuestCall, recentCall } from './calls.ts'
import { LIMITS } from './limits.ts'
import { isObject, ownData } from './own.ts'
import { isError, quote, slice, stringifyJson } from './primordials.ts'

/** Level of a log line. */
export type Level = 'debug' | 'info' | 'warn' | 'error'

/** Sends a log line of a call. Caps its size and the number of lines. Never throws. */
export function writeLog(call: GuestCall, level: Level, message: unknown, fields?: unknown): void {
  call.logLines += 1
  if (call.logLines > LIMITS.logLines + 1) return
  if (call.logLines > LIMITS.logLines) {
    send(call, 'warn', `further log lines are dropped: the limit is ${LIMITS.logLines}`, 'null')
    return
  }
  const text = slice(show(message), 0, LIMITS.logChars)
  const fieldsJson = fields === undefined ? 'null' : (toJson(fields) ?? 'null')
  const fits = text.length + fieldsJson.length <= LIMITS.logChars
  send(call, level, text, fits ? fieldsJson : '{"fields_dropped":"too long"}')
}

/** Logs an error of plugin code that no caller can catch. */
export function reportThrown(where: string, thrown: unknown): void {
  writeLog(recentCall(), 'error', `${where} threw: ${show(thrown)}`)
}

/**
 * Returns a value as text for a log line: strings unchanged, errors by name and message, other values as
 * JSON.
 */
export function show(value: unknown): string {
  if (typeof value === 'string') return value
  if (isObject(value) && isError(value)) {
    const message = ownData(value, 'message')
    const name = ownData(value, 'name')
    const text = typeof message === 'string' ? message : ''
    return typeof name === 'string' ? `${name}: ${text}` : text || 'Error'
  }
  return toJson(value) ?? typeof value
}

function toJson(value: unknown): string | undefined {
  try {
    return stringifyJson(value)
  } catch {
    return undefined
  }
}

function send(call: GuestCall, level: Level, message: string, fieldsJson: string): void {
  const head = `{"level":"${level}","message":${quote(message)},"fields":${fieldsJson}}`
  tryPost('log', call.id, head, '')
}
