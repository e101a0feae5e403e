/** Entries of searches as connectors get them, read from a server's messages. */
import { isUtf8 } from 'node:buffer'
import { BINARY_ATTRIBUTES, LDAP_LIMITS } from '../../contract/connector/ldap.ts'
import type { LdapEntry } from '../../contract/connector/ldap-context.ts'
import { ENTRY, INTEGER, OCTETS, SEQUENCE, SET, shapeOf } from './shape.ts'

/** Says of an attribute, by its name, whether its values are bytes. */
export type HoldsBytes = (name: string) => boolean

/** @param binary Further attributes that are bytes, in lower case. */
export function holdsBytesOf(binary: readonly string[]): HoldsBytes {
  /** By name: a page has the same few again and again. */
  const known = new Map<string, boolean>()
  return (name) => {
    const found = known.get(name)
    if (found !== undefined) return found
    const [bare = '', ...options] = name.toLowerCase().split(';')
    const isBinary =
      binary.includes(bare) || BINARY_ATTRIBUTES.includes(bare) || options.includes('binary')
    if (known.size < LDAP_LIMITS.maxAttributes) known.set(name, isBinary)
    return isBinary
  }
}

/** Reads the name of an entry's attribute of this number, which lies from `at` to `stop`. */
type ReadName = (bytes: Buffer, at: number, stop: number, nth: number) => string

const decodeName: ReadName = (bytes, at, stop) => bytes.toString('utf8', at, stop)

/** Entries of a search mostly have the same attributes in the same order: a name that was read is not made once more. */
export function rememberNames(): ReadName {
  const names: { bytes: Buffer; name: string }[] = []
  return (bytes, at, stop, nth) => {
    const known = names[nth]
    if (known !== undefined && lies(known.bytes, bytes, at, stop)) return known.name
    const name = decodeName(bytes, at, stop, nth)
    // A copy, which does not keep what arrived.
    if (nth < LDAP_LIMITS.maxAttributes)
      names[nth] = { bytes: Buffer.from(bytes.subarray(at, stop)), name }
    return name
  }
}

/** Whether the bytes from `at` to `stop` are these. They are few: a call of `compare` would take longer. */
function lies(these: Buffer, bytes: Buffer, at: number, stop: number): boolean {
  if (these.length !== stop - at) return false
  for (let n = 0; n < these.length; n += 1) if (these[n] !== bytes[at + n]) return false
  return true
}

/** An entry of a message; `elements` is how many values, names and lists the message holds. */
type ReadEntry = { entry: LdapEntry; elements: number }

/**
 * Reads the entry of a message, and judges its form, in one go: a search has thousands. Values are text; those of binary
 * attributes, and of any with a value that is no UTF-8, are base64.
 *
 * Source: RFC 4511 section 4.5.2.
 *
 * @returns null for a message that is malformed, undefined for one of another kind
 */
export function readEntry(
  bytes: Buffer,
  holdsBytes: HoldsBytes,
  readName: ReadName = decodeName,
): ReadEntry | null | undefined {
  let elements = 0
  let at = 0
  /** Where the element ends that was begun last. */
  let stop = 0

  /** Goes to the contents of the next element, which has this tag and ends within `limit`. */
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

  if (!begin(SEQUENCE, bytes.length) || stop !== bytes.length) return null
  const size = bytes.length
  if (!begin(INTEGER, size) || stop - at < 1 || stop - at > 4) return null
  at = stop
  if (bytes[at] !== ENTRY) return undefined
  if (!begin(ENTRY, size)) return null
  const end = stop
  if (end !== size) {
    // Controls stand behind it: nobody asked for any, and they are judged as those of other messages.
    const shape = shapeOf(bytes)
    if (shape === null) return null
    elements += shape.elements
  }
  if (!begin(OCTETS, end)) return null
  const dn = bytes.toString('utf8', at, stop)
  at = stop
  if (!begin(SEQUENCE, end) || stop !== end) return null

  const attributes: [string, string[]][] = []
  const binary: string[] = []
  while (at < end) {
    if (!begin(SEQUENCE, end)) return null
    const last = stop
    if (!begin(OCTETS, last)) return null
    const name = readName(bytes, at, stop, attributes.length)
    at = stop
    if (!begin(SET, last) || stop !== last) return null
    const first = at
    let isText = !holdsBytes(name)
    const values: string[] = []
    while (at < last) {
      if (!begin(OCTETS, last)) return null
      // A character that is no UTF-8 becomes U+FFFD, which may as well have been there before.
      const text = isText ? bytes.toString('utf8', at, stop) : ''
      if (isText && text.includes('\uFFFD') && !isUtf8(bytes.subarray(at, stop))) isText = false
      values.push(text)
      at = stop
    }
    // What was asked for and is not there.
    if (values.length === 0) continue
    if (!isText) {
      binary.push(name)
      at = first
      for (let index = 0; index < values.length; index += 1) {
        begin(OCTETS, last)
        elements -= 1
        values[index] = bytes.toString('base64', at, stop)
        at = stop
      }
    }
    attributes.push([name, values])
  }
  // Own members, also where a server names an attribute `__proto__`.
  return {
    entry: { dn, attributes: Object.fromEntries(attributes), binary },
    elements: elements - 1,
  }
}

/** The further values of attributes that a server hands out in ranges (`member;range=0-1499`). */
type ReadRange = (attribute: string) => Promise<LdapEntry | undefined>

const RANGE = /^(.+);range=(\d+)-(\d+|\*)$/i

/**
 * Reads the ranges of an entry to their end, and puts the values under the plain name.
 *
 * @param read Asks the server for one attribute of this entry.
 * @returns the entry, and whether the limit of requests ended it before all was read
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
      // A server that begins elsewhere than asked would have it go in circles.
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
