/** Reads what a guest sent along with a synchronous question: with a cap on every size. */
import { isObject } from '../contract/schema/record.ts'

/** A refusal whose message may be shown: `Name: text`, the name of the error that the guest throws. */
export class Refusal extends Error {}

export type JsonObject = Record<string, unknown>

export const DATA_BYTES: number = 16 * 1024 * 1024
/** Longest arguments of one question, in characters of JSON. */
export const ARGS_CHARS: number = Math.ceil(DATA_BYTES / 3) * 4 + 256 * 1024

/** Text of at most so many characters. */
export function text(value: unknown, max: number, what: string): string {
  if (typeof value !== 'string') throw new Refusal(`TypeError: the ${what} is not text`)
  if (value.length > max) throw tooLong(what, max, 'characters')
  return value
}

/** Bytes, which cross as base64. */
export function bytes(value: unknown): Buffer {
  const decoded = Buffer.from(text(value, ARGS_CHARS, 'data'), 'base64')
  if (decoded.length > DATA_BYTES) throw tooLong('data', DATA_BYTES, 'bytes')
  return decoded
}

/** An object. */
export function record(value: unknown, what: string): JsonObject {
  if (isObject(value)) return value
  throw new Refusal(`TypeError: the ${what} is not an object`)
}

/** The refusal of something over its limit. */
export function tooLong(what: string, max: number, unit: string): Refusal {
  return new Refusal(`RangeError: the ${what} is over the limit of ${max} ${unit}`)
}
