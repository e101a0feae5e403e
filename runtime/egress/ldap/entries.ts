/** Entries of the library as connectors get them. */
import type { Entry } from 'ldapts'
import { BINARY_ATTRIBUTES, LDAP_LIMITS } from '../../contract/connector/ldap.ts'
import type { LdapEntry } from '../../contract/connector/ldap-context.ts'

/** Binary attributes as servers spell them: the library compares exactly. */
export const SPELT: readonly string[] = [
  'objectGUID',
  'objectSid',
  'jpegPhoto',
  'thumbnailPhoto',
  'userCertificate',
  'cACertificate',
]

/**
 * Makes what turns entries into those of connectors: values are text; those of binary attributes, and of any with a
 * value that is no UTF-8, are base64.
 *
 * @param binary Further attributes that are bytes, in lower case.
 */
export function toEntries(binary: readonly string[]): (entry: Entry) => LdapEntry {
  /** By name: a page has the same few again and again. */
  const known = new Map<string, boolean>()
  const holdsBytes = (name: string): boolean => {
    const found = known.get(name)
    if (found !== undefined) return found
    const [bare = '', ...options] = name.toLowerCase().split(';')
    const isBinary =
      binary.includes(bare) || BINARY_ATTRIBUTES.includes(bare) || options.includes('binary')
    if (known.size < LDAP_LIMITS.maxAttributes) known.set(name, isBinary)
    return isBinary
  }
  return ({ dn, ...values }) => {
    const binaryNames: string[] = []
    const attributes: [string, string[]][] = []
    for (const name in values) {
      const held = values[name] ?? []
      const all: readonly (string | Buffer)[] = Array.isArray(held) ? held : [held]
      // What was asked for and is not there.
      if (all.length === 0) continue
      const isBinary = holdsBytes(name) || !all.every(isText)
      if (isBinary) binaryNames.push(name)
      attributes.push([name, isBinary ? all.map(toBase64) : all.map(String)])
    }
    // Own members, also where a server names an attribute `__proto__`.
    return { dn, attributes: Object.fromEntries(attributes), binary: binaryNames }
  }
}

const isText = (value: string | Buffer): boolean => typeof value === 'string'

const toBase64 = (value: string | Buffer): string =>
  (typeof value === 'string' ? Buffer.from(value) : value).toString('base64')

/** The further values of attributes that a server hands out in ranges (`member;range=0-1499`). */
export type ReadRange = (attribute: string) => Promise<Entry | undefined>

const RANGE = /^(.+);range=(\d+)-(\d+|\*)$/i

/**
 * Reads the ranges of an entry to their end, and puts the values under the plain name.
 *
 * @param read Asks the server for one attribute of this entry.
 * @returns the entry, and whether the limit of requests ended it before all was read
 */
export async function wholeRanges(
  entry: Entry,
  read: ReadRange,
): Promise<{ entry: Entry; isWhole: boolean }> {
  const ranged = Object.keys(entry).filter((name) => RANGE.test(name))
  if (ranged.length === 0) return { entry, isWhole: true }
  const whole: Entry = { ...entry }
  let requests = 0
  for (const first of ranged) {
    const [, name = ''] = RANGE.exec(first) ?? []
    const pieces: (string | Buffer)[][] = []
    let current: string | null = first
    let held: Entry | undefined = entry
    while (current !== null) {
      pieces.push([held?.[current] ?? []].flat())
      const [, , , end = '*'] = RANGE.exec(current) ?? []
      if (end === '*') break
      requests += 1
      if (requests > LDAP_LIMITS.maxRanges) return { entry, isWhole: false }
      const from: number = Number(end) + 1
      held = await read(`${name};range=${from}-*`)
      // A server that begins elsewhere than asked would have it go in circles.
      current = Object.keys(held ?? {}).find((one) => RANGE.exec(one)?.[2] === String(from)) ?? null
    }
    delete whole[first]
    // The cast: the library's type wants texts or buffers; the pieces of one attribute are all of one kind.
    whole[name] = pieces.flat() as string[]
  }
  return { entry: whole, isWhole: true }
}
