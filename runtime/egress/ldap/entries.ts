/** Entries of searches as JSON for connectors, written directly from a server's messages. */
import { BINARY_ATTRIBUTES, LDAP_LIMITS } from '../../contract/connector/ldap.ts'
import type { LdapEntry } from '../../contract/connector/ldap-context.ts'
import { createJsonBytes } from './json-bytes.ts'
import { ENTRY, INTEGER, OCTETS, SEQUENCE, SET, shapeOf } from './reply-shape.ts'

/** Reader of the entries of one reply. */
export type EntryReader = {
  /**
   * Reads the entry of a message and checks its form in one pass, because a search has thousands. Values are
   * text. Values of binary attributes, and of attributes with a value that is not UTF-8, are base64.
   *
   * Source: RFC 4511 section 4.5.2.
   *
   * @param from Offset of the message; `size` is the offset of its end.
   *
   * @returns the number of values, names and lists in the message; null if it is malformed, after which no
   * more may be read; undefined if it is of another kind
   */
  read(message: Buffer, from?: number, size?: number): number | null | undefined
  /** Number of entries so far, and their size as JSON, in bytes. */
  readonly count: number
  readonly bytes: number
  /**
   * Returns the JSON of the entries, separated by commas, in pieces.
   *
   * @param whole Reads the rest of an entry whose values come in ranges.
   */
  pieces(whole: (entry: LdapEntry) => Promise<LdapEntry>): Promise<Buffer[]>
}

/** Name of an attribute, and the properties of its values that follow from it. */
type Name = { bytes: Buffer; json: Buffer; isBinary: boolean; isRanged: boolean }

const RANGE = /^(.+);range=(\d+)-(\d+|\*)$/i

const COMMA: Buffer = Buffer.from(',')
const BEFORE_DN: Buffer = Buffer.from('{"dn":')
const BEFORE_ATTRIBUTES: Buffer = Buffer.from(',"attributes":{')
const BEFORE_VALUES: Buffer = Buffer.from(':[')
const AFTER_VALUES: Buffer = Buffer.from(']')
const BEFORE_BINARY: Buffer = Buffer.from('},"binary":[')
const AFTER_BINARY: Buffer = Buffer.from(']}')

/**
 * Creates the reader of one reply.
 *
 * @param binary Further attributes whose values are bytes, in lower case.
 * @param firstBytes Initial capacity, in bytes of JSON.
 */
export function createEntryReader(binary: readonly string[], firstBytes: number): EntryReader {
  const json = createJsonBytes(firstBytes)
  /** By position: entries of a search mostly have the same attributes in the same order. */
  const names: Name[] = []
  /** Positions of the entries that have values in ranges. */
  const ranged: { at: number; stop: number }[] = []
  let count = 0
  // State of the message being read. It is kept per search, not per message: V8 discards the compiled code of
  // a closure that it collects, and would compile the functions below again and again.
  let bytes: Buffer = Buffer.alloc(0)
  let elements = 0
  let at = 0
  /** End of the element that was begun last. */
  let stop = 0

  /**
   * Moves to the contents of the next element. Returns false if it does not have this tag, or ends after
   * `limit`.
   */
  function begin(tag: number, limit: number): boolean {
    if (at + 2 > limit || bytes[at] !== tag) return false
    let length = bytes[at + 1] ?? 0
    at += 2
    if (length >= 0x80) {
      const more = length & 0x7f
      if (more === 0 || more > 4 || at + more > limit) return false
      length = bytes.readUIntBE(at, more)
      at += more
    }
    stop = at + length
    elements += 1
    return stop <= limit
  }

  /** Writes the values up to `last`. @returns whether they are text; null if they are malformed */
  function writeValues(last: number, isBinary: boolean): boolean | null {
    const first = at
    const written = json.length
    let isText = !isBinary
    while (at < last) {
      if (!begin(OCTETS, last)) return null
      if (isText) {
        if (json.length > written) json.raw(COMMA)
        isText = json.text(bytes, at, stop)
      }
      at = stop
    }
    if (isText) return true
    const counted = elements
    json.cut(written)
    at = first
    while (at < last) {
      begin(OCTETS, last)
      if (json.length > written) json.raw(COMMA)
      json.base64(bytes, at, stop)
      at = stop
    }
    elements = counted
    return false
  }

  /** Returns the name from here to the end of its element. */
  function nameAt(place: number): Name {
    const known = names[place]
    if (known !== undefined && equalsAt(known.bytes, bytes, at, stop)) return known
    const text = bytes.toString('utf8', at, stop)
    const [bare = '', ...options] = text.toLowerCase().split(';')
    const name = {
      // A copy, so that the received data is not retained.
      bytes: Buffer.from(bytes.subarray(at, stop)),
      json: Buffer.from(JSON.stringify(text)),
      isBinary:
        binary.includes(bare) || BINARY_ATTRIBUTES.includes(bare) || options.includes('binary'),
      isRanged: RANGE.test(text),
    }
    if (place < LDAP_LIMITS.maxAttributes) names[place] = name
    return name
  }

  function read(message: Buffer, from = 0, size = message.length): number | null | undefined {
    bytes = message
    elements = 0
    at = from
    if (!begin(SEQUENCE, size) || stop !== size) return null
    if (!begin(INTEGER, size) || stop - at < 1 || stop - at > 4) return null
    at = stop
    if (bytes[at] !== ENTRY) return undefined
    if (!begin(ENTRY, size)) return null
    const end = stop
    if (end !== size) {
      // Controls follow the entry. None were requested; they are judged like those of other messages.
      const shape = shapeOf(bytes.subarray(from, size))
      if (shape === null) return null
      elements += shape.elements
    }
    if (!begin(OCTETS, end)) return null
    if (count > 0) json.raw(COMMA)
    const entryAt = json.length
    json.raw(BEFORE_DN)
    if (!json.text(bytes, at, stop)) json.value(bytes.toString('utf8', at, stop))
    at = stop
    if (!begin(SEQUENCE, end) || stop !== end) return null

    json.raw(BEFORE_ATTRIBUTES)
    const asBytes: Buffer[] = []
    let isRanged = false
    let isFirst = true
    for (let place = 0; at < end; place += 1) {
      if (!begin(SEQUENCE, end)) return null
      const last = stop
      if (!begin(OCTETS, last)) return null
      const name = nameAt(place)
      at = stop
      if (!begin(SET, last) || stop !== last) return null
      // A requested attribute that the entry does not have.
      if (at === last) continue
      if (!isFirst) json.raw(COMMA)
      isFirst = false
      json.raw(name.json)
      json.raw(BEFORE_VALUES)
      const isText = writeValues(last, name.isBinary)
      if (isText === null) return null
      if (!isText) asBytes.push(name.json)
      if (name.isRanged) isRanged = true
      json.raw(AFTER_VALUES)
    }
    json.raw(BEFORE_BINARY)
    for (const [n, name] of asBytes.entries()) {
      if (n > 0) json.raw(COMMA)
      json.raw(name)
    }
    json.raw(AFTER_BINARY)
    if (isRanged) ranged.push({ at: entryAt, stop: json.length })
    count += 1
    return elements - 1
  }

  return {
    read,
    get count() {
      return count
    },
    get bytes() {
      return json.length
    },
    async pieces(whole) {
      const pieces: Buffer[] = []
      let from = 0
      for (const { at, stop } of ranged) {
        const entry = await whole(JSON.parse(json.between(at, stop).toString('utf8')))
        pieces.push(json.between(from, at), Buffer.from(JSON.stringify(entry)))
        from = stop
      }
      return [...pieces, json.between(from, json.length)]
    },
  }
}

/**
 * Reports whether the bytes from `at` to `stop` equal these. They are few, so a call of `compare` would take
 * longer.
 */
function equalsAt(these: Buffer, bytes: Buffer, at: number, stop: number): boolean {
  if (these.length !== stop - at) return false
  for (let n = 0; n < these.length; n += 1) if (these[n] !== bytes[at + n]) return false
  return true
}

/** Reads further values of an attribute that a server returns in ranges (`member;range=0-1499`). */
type ReadRange = (attribute: string) => Promise<LdapEntry | undefined>

/**
 * Reads the ranges of an entry to their end, and stores the values under the plain name.
 *
 * @param read Reads one attribute of this entry from the server.
 * @returns the entry, and whether all values were read within the limit of requests
 */
export async function wholeRanges(
  entry: LdapEntry,
  read: ReadRange,
): Promise<{ entry: LdapEntry; isWhole: boolean }> {
  const ranged = Object.keys(entry.attributes).filter((name) => RANGE.test(name))
  if (ranged.length === 0) return { entry, isWhole: true }
  const attributes = new Map(Object.entries(entry.attributes))
  const binary = new Set(entry.binary)
  let requests = 0
  for (const first of ranged) {
    const [, name = ''] = RANGE.exec(first) ?? []
    const pieces: string[][] = []
    let current: string | null = first
    let held: LdapEntry | undefined = entry
    while (current !== null) {
      pieces.push(held?.attributes[current] ?? [])
      const [, , , end = '*'] = RANGE.exec(current) ?? []
      if (end === '*') break
      requests += 1
      if (requests > LDAP_LIMITS.maxRanges) return { entry, isWhole: false }
      const from: number = Number(end) + 1
      held = await read(`${name};range=${from}-*`)
      // A range that begins elsewhere than requested would cause an endless loop.
      current =
        Object.keys(held?.attributes ?? {}).find((one) => RANGE.exec(one)?.[2] === String(from)) ??
        null
    }
    attributes.delete(first)
    attributes.set(name, pieces.flat())
    if (binary.delete(first)) binary.add(name)
  }
  const whole = { ...entry, attributes: Object.fromEntries(attributes), binary: [...binary] }
  return { entry: whole, isWhole: true }
}
