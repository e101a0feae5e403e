/**
 * Strays: rejections that a connector leaves unhandled. They change no answer; they are logged. The guest
 * makes the text of a reason, of any size.
 */
import type { Heads } from '../protocol/frames.ts'

/** Longest text of a reason in a log line, in characters. */
const MAX_REASON_LENGTH = 2000

/** Number of characters above which a reason is huge: the worker had to hold all of it. */
const HUGE_LENGTH = 1024 * 1024

/** Makes the log line of a stray, with its reason cut. */
export function strayLine(reason: unknown): Heads['log'] {
  const more = isHuge(reason)
    ? `; its text has ${sizeOf(reason)} characters, so rejections of later turns are not logged`
    : ''
  const shown = copyOf(textOf(reason).slice(0, MAX_REASON_LENGTH))
  const message = `a promise was rejected and nothing handled it: ${shown}${more}`
  return { level: 'warn', message, fields: null }
}

/** Reports whether a reason is huge. Further rejections of such a connector are not fetched. */
export function isHuge(reason: unknown): boolean {
  return sizeOf(reason) > HUGE_LENGTH
}

function textOf(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason)
  const name = String(reason.name).slice(0, MAX_REASON_LENGTH)
  return `${name}: ${String(reason.message).slice(0, MAX_REASON_LENGTH)}`
}

function sizeOf(reason: unknown): number {
  if (!(reason instanceof Error)) return String(reason).length
  const { name, message, stack } = reason
  return String(name).length + String(message).length + String(stack ?? '').length
}

/** Copies a text: a slice would keep the whole text from which it was cut. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}
