import {
  ArrayPrototype,
  defineProperty,
  getPrototypeOf,
  indexOf,
  isArray,
  ObjectPrototype,
  parseJson,
  stringifyJson,
} from './primordials.ts'

/** Checks a reply and writes it as JSON; throws where the fast way does not fit. */
type Writer = (payload: unknown) => string

/** JSON that fits the contract to the letter, and how many accounts may not leave. */
type Written = { text: string; leftOut: number }

let writers: { [capability: string]: Writer } = Object.create(null)
let leftOut = 0

/** Takes the writers that worker/writers.ts generated; they see these helpers and no global. */
export function install(make: (parts: object) => { [capability: string]: Writer }): void {
  writers = make({
    parse: parseJson,
    stringify: stringifyJson,
    isArray,
    defineProperty,
    getPrototypeOf,
    ObjectPrototype,
    ArrayPrototype,
    indexOf,
    slow,
    leaveOut,
  })
}

/** Writes a reply, or null where it has to be judged the slow way. */
export function write(capability: string, payload: unknown): Written | null {
  const writer = writers[capability]
  if (writer === undefined) return null
  leftOut = 0
  // JSON.stringify sees own members alone; where every object inherits some, a writer would see those too.
  for (const _inherited in ObjectPrototype) return null
  try {
    const text = writer(payload)
    return { text, leftOut }
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
