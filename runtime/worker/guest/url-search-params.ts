import { decodeUtf8, encodeUtf8 } from './utf8.ts'

type Pair = [string, string]
type Init = string | Iterable<Iterable<string>> | Record<string, string> | URLSearchParams

let link: (params: URLSearchParams, changed: (text: string) => void) => void
let refill: (params: URLSearchParams, text: string) => void
let brand: (value: object) => boolean

/** WHATWG URLSearchParams, live if it belongs to a URL. */
export class URLSearchParams {
  #pairs: Pair[]
  #changed: ((text: string) => void) | null = null

  static {
    link = (params, changed) => {
      params.#changed = changed
    }
    refill = (params, text) => {
      params.#pairs = parsePairs(text)
    }
    brand = (value) => #pairs in value
  }

  constructor(init: Init = '') {
    this.#pairs = pairsOf(init)
  }

  get size(): number {
    return this.#pairs.length
  }

  append(name: string, value: string): void {
    this.#pairs.push([usv(name), usv(value)])
    this.#update()
  }

  delete(name: string, value?: string): void {
    const key = usv(name)
    this.#pairs = this.#pairs.filter(
      ([k, v]) => k !== key || (value !== undefined && v !== usv(value)),
    )
    this.#update()
  }

  get(name: string): string | null {
    return this.#pairs.find(([key]) => key === usv(name))?.[1] ?? null
  }

  getAll(name: string): string[] {
    return this.#pairs.filter(([key]) => key === usv(name)).map(([, value]) => value)
  }

  has(name: string, value?: string): boolean {
    return this.#pairs.some(
      ([k, v]) => k === usv(name) && (value === undefined || v === usv(value)),
    )
  }

  set(name: string, value: string): void {
    const key = usv(name)
    const first = this.#pairs.find(([k]) => k === key)
    if (first === undefined) this.#pairs.push([key, usv(value)])
    else {
      first[1] = usv(value)
      this.#pairs = this.#pairs.filter((pair) => pair === first || pair[0] !== key)
    }
    this.#update()
  }

  sort(): void {
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    this.#update()
  }

  forEach(visit: (value: string, name: string, all: this) => void, self?: unknown): void {
    for (const [name, value] of this) visit.call(self, value, name, this)
  }

  *entries(): IterableIterator<Pair> {
    // By index, so that changes during iteration are seen.
    for (let i = 0; i < this.#pairs.length; i += 1) {
      const pair = this.#pairs[i]
      if (pair) yield [pair[0], pair[1]]
    }
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.entries()) yield name
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this.entries()) yield value
  }

  [Symbol.iterator](): IterableIterator<Pair> {
    return this.entries()
  }

  toString(): string {
    return this.#pairs.map(([name, value]) => `${escapeText(name)}=${escapeText(value)}`).join('&')
  }

  #update(): void {
    this.#changed?.(this.toString())
  }
}

/** Makes the search parameters of a URL. `changed` is called with the new query after every change. */
export function linkedParams(query: string, changed: (text: string) => void): URLSearchParams {
  const params = new URLSearchParams(query)
  link(params, changed)
  return params
}

/** Replaces all pairs after the URL's query has changed. */
export function resetParams(params: URLSearchParams, query: string): void {
  refill(params, query.startsWith('?') ? query.slice(1) : query)
}

/** Reports whether a value is a URLSearchParams of the sandbox. */
export function isSearchParams(value: object): value is URLSearchParams {
  return brand(value)
}

function usv(value: unknown): string {
  return `${value}`.toWellFormed()
}

function pairsOf(init: unknown): Pair[] {
  if (typeof init !== 'object' || init === null) {
    const text = usv(init)
    return parsePairs(text.startsWith('?') ? text.slice(1) : text)
  }
  // The cast: a value with an iterator is walked, and each pair is checked.
  if (Symbol.iterator in init) return [...(init as Iterable<Iterable<string>>)].map(toPair)
  return Object.entries(init).map(([name, value]): Pair => [usv(name), usv(value)])
}

function toPair(item: Iterable<string>): Pair {
  const pair = [...item]
  if (pair.length !== 2) throw new TypeError('each query pair must have a name and a value')
  return [usv(pair[0]), usv(pair[1])]
}

function parsePairs(text: string): Pair[] {
  return text
    .split('&')
    .filter((part) => part !== '')
    .map((part): Pair => {
      const at = part.indexOf('=')
      return at < 0
        ? [unescapeText(part), '']
        : [unescapeText(part.slice(0, at)), unescapeText(part.slice(at + 1))]
    })
}

function escapeText(text: string): string {
  return encodeURIComponent(text)
    .replace(/[!'()~]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+')
}

function unescapeText(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    return decodeUtf8(percentDecode(encodeUtf8(spaced)))
  }
}

function percentDecode(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length)
  let at = 0
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i] ?? 0
    const high = byte === 0x25 ? hexDigit(bytes[i + 1]) : -1
    const low = byte === 0x25 ? hexDigit(bytes[i + 2]) : -1
    out[at] = high >= 0 && low >= 0 ? high * 16 + low : byte
    if (high >= 0 && low >= 0) i += 2
    at += 1
  }
  return out.subarray(0, at)
}

function hexDigit(byte: number | undefined): number {
  const digit = Number.parseInt(String.fromCharCode(byte ?? 0), 16)
  return Number.isNaN(digit) ? -1 : digit
}
