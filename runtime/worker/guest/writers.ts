import {
  ArrayPrototype,
  defineProperty,
  getPrototypeOf,
  indexOf,
  isArray,
  ObjectPrototype,
  ownKeys,
  parseJson,
  stringifyJson,
} from './primordials.ts'

/** Checks a reply and writes it as JSON, or the columns in `read` as a table; throws if the fast way does not fit. */
type Writer = (payload: unknown, read: readonly string[] | null) => string

type Writers = { [capability: string]: Writer }

/** JSON that fits the contract to the letter, how many accounts may not leave, and whether it is a table. */
type Written = { text: string; leftOut: number; isTable: boolean }

let writers: Writers = Object.create(null)
let tables: Writers = Object.create(null)
let leftOut = 0

/** Takes the writers that worker/writers.ts generated; they see these helpers and no global. */
export function install(make: (parts: object) => { rows: Writers; tables: Writers }): void {
  const made = make({
    parse: parseJson,
    stringify: stringifyJson,
    isArray,
    defineProperty,
    getPrototypeOf,
    ownKeys,
    ObjectPrototype,
    ArrayPrototype,
    indexOf,
    slow,
    leaveOut,
  })
  writers = made.rows
  tables = made.tables
}

/**
 * Writes a reply, or null where it has to be judged the slow way.
 *
 * @param table Whether rows may be written as columns (protocol/tables.ts), or which columns are read.
 */
export function write(
  capability: string,
  payload: unknown,
  table: readonly string[] | boolean,
): Written | null {
  const asTable = table === false ? undefined : tables[capability]
  const writer = asTable ?? writers[capability]
  if (writer === undefined) return null
  leftOut = 0
  // JSON.stringify sees own members alone; where every object inherits some, a writer would see those too.
  for (const _inherited in ObjectPrototype) return null
  try {
    const text = writer(payload, typeof table === 'object' ? table : null)
    return { text, leftOut, isTable: asTable !== undefined }
  } catch {
    // What plugin code threw shows again, with its words, when the slow way reads the same.
    return null
  }
}

function slow(): never {
  throw null
}

function leaveOut(): void {
  leftOut += 1
}
