import { askOrThrow } from './dom-exception.ts'
import { linkedParams, resetParams, type URLSearchParams } from './url-search-params.ts'

/** Order of the components in the host's answer (runtime/worker/sync-ops.ts). */
const PARTS = {
  href: 0,
  origin: 1,
  protocol: 2,
  username: 3,
  password: 4,
  host: 5,
  hostname: 6,
  port: 7,
  pathname: 8,
  search: 9,
  hash: 10,
} as const

let brand: (value: object) => boolean

/** WHATWG URL, parsed by the host. */
export class URL {
  #parts: string[]
  #params: URLSearchParams | null = null

  static {
    brand = (value) => #parts in value
  }

  constructor(input: string | URL, base?: string | URL) {
    this.#parts = parse(input, base)
  }

  static canParse(input: string | URL, base?: string | URL): boolean {
    return URL.parse(input, base) !== null
  }

  static parse(input: string | URL, base?: string | URL): URL | null {
    try {
      return new URL(input, base)
    } catch {
      return null
    }
  }

  get searchParams(): URLSearchParams {
    this.#params ??= linkedParams(this.#part('search'), (query) =>
      this.#set('search', query, false),
    )
    return this.#params
  }

  get origin(): string {
    return this.#part('origin')
  }

  get href(): string {
    return this.#part('href')
  }
  set href(value: string) {
    this.#set('href', value)
  }

  get protocol(): string {
    return this.#part('protocol')
  }
  set protocol(value: string) {
    this.#set('protocol', value)
  }

  get username(): string {
    return this.#part('username')
  }
  set username(value: string) {
    this.#set('username', value)
  }

  get password(): string {
    return this.#part('password')
  }
  set password(value: string) {
    this.#set('password', value)
  }

  get host(): string {
    return this.#part('host')
  }
  set host(value: string) {
    this.#set('host', value)
  }

  get hostname(): string {
    return this.#part('hostname')
  }
  set hostname(value: string) {
    this.#set('hostname', value)
  }

  get port(): string {
    return this.#part('port')
  }
  set port(value: string) {
    this.#set('port', value)
  }

  get pathname(): string {
    return this.#part('pathname')
  }
  set pathname(value: string) {
    this.#set('pathname', value)
  }

  get search(): string {
    return this.#part('search')
  }
  set search(value: string) {
    this.#set('search', value)
  }

  get hash(): string {
    return this.#part('hash')
  }
  set hash(value: string) {
    this.#set('hash', value)
  }

  toString(): string {
    return this.#part('href')
  }

  toJSON(): string {
    return this.#part('href')
  }

  #part(name: keyof typeof PARTS): string {
    return this.#parts[PARTS[name]] ?? ''
  }

  #set(name: keyof typeof PARTS, value: string, refill = true): void {
    const answer = askOrThrow('url.set', [this.#part('href'), name, `${value}`.toWellFormed()])
    this.#parts = JSON.parse(answer)
    if (refill && this.#params !== null) resetParams(this.#params, this.#part('search'))
  }
}

/** Reports whether a value is a URL of the sandbox. */
export function isUrl(value: object): value is URL {
  return brand(value)
}

function parse(input: unknown, base: unknown): string[] {
  const args = [`${input}`.toWellFormed(), base === undefined ? null : `${base}`.toWellFormed()]
  return JSON.parse(askOrThrow('url', args))
}
