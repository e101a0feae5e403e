/** Reads the arguments of the guest's synchronous questions, with a cap on every size. */
import { isObject } from '../contract/schema/record.ts'

/**
 * Refusal whose message may be shown. The message is `Name: text`, where `Name` is the error that the guest
 * throws.
 */
export class Refusal extends Error {}

export type JsonObject = Record<string, unknown>

export const DATA_BYTES: number = 16 * 1024 * 1024
/** Longest arguments of one question, in characters of JSON. */
export const ARGS_CHARS: number = Math.ceil(DATA_BYTES / 3) * 4 + 256 * 1024

/**
 * Returns a text of at most `max` characters.
 *
 * @throws Refusal if it is not a text or too long
 */
export function text(value: unknown, max: number, what: string): string {
  if (typeof value !== 'string') throw new Refusal(`TypeError: the ${what} is not text`)
  if (value.length > max) throw tooLong(what, max, 'characters')
  return value
}

/**
 * Decodes bytes, which cross as base64.
 *
 * @throws Refusal if they are not text or too long
 */
export function bytes(value: unknown): Buffer {
  const decoded = Buffer.from(text(value, ARGS_CHARS, 'data'), 'base64')
  if (decoded.length > DATA_BYTES) throw tooLong('data', DATA_BYTES, 'bytes')
  return decoded
}

/**
 * Returns an object.
 *
 * @throws Refusal if the value is none
 */
export function record(value: unknown, what: string): JsonObject {
  if (isObject(value)) return value
  throw new Refusal(`TypeError: the ${what} is not an object`)
}

/** Makes the refusal of a value over its limit. */
export function tooLong(what: string, max: number, unit: string): Refusal {
  return new Refusal(`RangeError: the ${what} is over the limit of ${max} ${unit}`)
}
