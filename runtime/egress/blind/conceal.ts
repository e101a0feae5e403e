/**
 * Removes secrets from replies before they enter the sandbox. An echoed secret is replaced by its
 * placeholder, so that the connector can send it back. A secret that an upstream transforms before it echoes
 * it cannot be found; this limit is documented. The work is linear in secrets and reply, and done in slices.
 */
import { inSlices } from '../../bounded/slices.ts'
import type { Search } from '../../redact/text-search.ts'
import type { HeaderList } from '../exchange/headers.ts'
import { type Concealed, type Echo, echoesOf, MIN_CONCEALED_LENGTH } from './echoes.ts'
import { refuseSecret } from './refuse.ts'
import { type EchoLimits, type Known, replaceEchoes } from './replace-echoes.ts'
import { createSearches, type SoughtBytes } from './searches.ts'

export type Conceal = {
  /**
   * Adds a secret of the call. Derived secrets are known only when they are made.
   *
   * @throws egress_secret for too many
   */
  add(one: Concealed): void
  headers(headers: HeaderList): Promise<HeaderList>
  /** @throws upstream_too_large if placeholders make it too large, and the errors of `hold` */
  body(body: Buffer, room: EchoLimits): Promise<Buffer>
}

/** Prepared search for some of the texts. */
type Part = { sought: readonly SoughtBytes[]; bytes: number; search: Search }

const searchFor = createSearches()

const NO_BYTES: Buffer = Buffer.alloc(0)

/**
 * Maximum number, and total length in characters, of secrets that one call derives (Basic credentials,
 * signatures, tokens).
 */
const MAX_DERIVED = 256
const MAX_DERIVED_LENGTH = 256 * 1024

/**
 * Creates the concealer of one call. Prepares nothing before the first reply.
 *
 * @param secrets Called once.
 */
export function createConceal(secrets: () => readonly Concealed[]): Conceal {
  /** Echoes by number; 0 is none. */
  const echoes: Echo[] = [{ bytes: NO_BYTES, instead: NO_BYTES }]
  const lengths: number[] = [0]
  const seen = new Set<string>()
  const derived = new Set<string>()
  let derivedLength = 0
  const later: Concealed[] = []
  let asked = false
  let parts: readonly Part[] = []
  let preparing: Promise<void> = Promise.resolve()

  /**
   * Prepares a search for new secrets. Parts of similar size are merged. So there are few parts, and a text
   * is prepared again only when their size has doubled.
   */
  function* prepare(some: readonly Concealed[]): Generator<void, void> {
    let sought: SoughtBytes[] = []
    for (const one of some) {
      sought.push(...echoesOf(one).flatMap(register))
      yield
    }
    if (sought.length === 0) return
    let rest = parts
    for (;;) {
      const last = rest.at(-1)
      if (last === undefined || last.bytes > 2 * bytesOf(sought)) break
      sought = [...last.sought, ...sought]
      rest = rest.slice(0, -1)
    }
    const search = yield* searchFor(sought)
    parts = [...rest, { sought, bytes: bytesOf(sought), search }]
  }

  function register(echo: Echo): SoughtBytes[] {
    const latin1 = echo.bytes.toString('latin1')
    if (seen.has(latin1)) return []
    seen.add(latin1)
    lengths.push(echo.bytes.length)
    return [{ symbols: echo.bytes, latin1, number: echoes.push(echo) - 1 }]
  }

  async function known(): Promise<Known> {
    if (!asked) later.unshift(...secrets())
    asked = true
    if (later.length > 0) {
      const some = later.splice(0)
      const before = preparing
      preparing = before.then(() => inSlices(prepare(some)))
    }
    await preparing
    return { searches: parts.map(({ search }) => search), echoes, lengths }
  }

  return {
    add(one) {
      if (derived.has(one.value)) return
      derivedLength += one.value.length
      if (derived.size === MAX_DERIVED || derivedLength > MAX_DERIVED_LENGTH)
        throw refuseSecret(
          `The call has sent more than ${MAX_DERIVED} different texts made of its secrets (Basic credentials, signatures), or more than ${MAX_DERIVED_LENGTH} characters of them: use each again`,
        )
      derived.add(one.value)
      later.push(one)
    },
    async headers(headers) {
      const by = await known()
      return by.searches.length === 0 ? headers : inSlices(replaceInHeaders(headers, by))
    },
    async body(body, room) {
      const by = await known()
      return by.searches.length === 0 ? body : inSlices(replaceEchoes(body, by, room))
    },
  }
}

/** A reply has at most 64 KiB of headers. Each 12 bytes of them may become a placeholder. */
const HEADER_ROOM: EchoLimits = { maxBytes: 16 * 1024 * 1024, hold: () => {} }

function* replaceInHeaders(headers: HeaderList, by: Known): Generator<void, HeaderList> {
  const replaced: [string, string][] = []
  for (const [name, value] of headers)
    replaced.push([yield* replaceInHeader(name, by), yield* replaceInHeader(value, by)])
  return replaced
}

function* replaceInHeader(text: string, by: Known): Generator<void, string> {
  if (text.length < MIN_CONCEALED_LENGTH) return text
  // A received header is Latin-1: one character per byte.
  const bytes = Buffer.from(text, 'latin1')
  const replaced = yield* replaceEchoes(bytes, by, HEADER_ROOM)
  return replaced === bytes ? text : replaced.toString('latin1')
}

const bytesOf = (sought: readonly SoughtBytes[]): number =>
  sought.reduce((sum, { symbols }) => sum + symbols.length, 0)
