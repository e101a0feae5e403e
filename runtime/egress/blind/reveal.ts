/**
 * Fills the secrets into a request. The result is made from the request with placeholders for every hop,
 * after the hop has been judged. A placeholder that cannot be replaced is refused: sending it would do no
 * harm, but the upstream's refusal would be hard to explain.
 */
import { type RuntimeCode, RuntimeError } from '../../contract/errors/errors.ts'
import type { OutgoingRequest } from '../exchange/exchange.ts'
import type { HeaderList } from '../exchange/headers.ts'
import { ADDRESS_LIMITS } from '../limits/limits.ts'
import { type Filling, fill, hidesMark, holdsMark, meaningOfWhole } from './fill.ts'
import { fillBody, fillPairs } from './fill-body.ts'
import { misplaced } from './refuse.ts'

/** Request with its secrets, and the signature of the whole request that it needs. */
export type Revealed = { url: URL; request: OutgoingRequest; signature: string | null }

/** Limits of a request with its secrets, in bytes. `hold` counts the growth of its body. */
export type RequestLimits = {
  maxHeaderBytes: number
  maxRequestBytes: number
  hold(bytes: number): void
}

type RevealDeps = Omit<Filling, 'grow' | 'inserts'> & {
  /** Reports whether a signature is one of the whole request. */
  signsRequest(sign: string): boolean
  /**
   * Called with the base64 of a Basic value, with and without secrets, so that replies can be searched for
   * it.
   */
  onBasic(value: string, placeholder: string): void
  room: RequestLimits
}

/** What one place of a request needs. Its growth is limited. */
type PlaceDeps = RevealDeps & Filling

/**
 * Replaces every placeholder of a request.
 *
 * @param url The judged URL, with placeholders.
 * @throws egress_secret naming the position, and the alternative; egress_header or egress_body if it is too
 * large with its secrets, and the errors of `hold`
 */
export async function reveal(
  request: OutgoingRequest,
  url: URL,
  deps: RevealDeps,
): Promise<Revealed> {
  const { maxHeaderBytes, maxRequestBytes, hold } = deps.room
  const inserts = new Map<string, string>()
  const headersSize = request.headers.reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    0,
  )
  const inHeaders: PlaceDeps = {
    ...deps,
    inserts,
    grow: createGrow(headersSize, maxHeaderBytes, 'egress_header', 'The request headers are'),
  }
  // Check the size before the text is read.
  inHeaders.grow(0)
  refuseInAddress(url, deps)
  const headers: [string, string][] = []
  let signature: string | null = null
  for (const [name, value] of request.headers) {
    if (holdsMark(name, deps.marks)) throw misplaced('header_name')
    const meaning = meaningOfWhole(value, deps)
    if (meaning !== null && 'sign' in meaning && deps.signsRequest(meaning.sign)) {
      if (name.toLowerCase() !== 'authorization') throw misplaced('signature', name)
      signature = meaning.sign
    } else headers.push([name, await fillHeader(name, value, inHeaders)])
  }
  const inQuery: PlaceDeps = {
    ...deps,
    inserts,
    grow: createGrow(
      url.href.length,
      ADDRESS_LIMITS.maxUrlBytes,
      'egress_secret',
      'The address is',
    ),
  }
  const grow = createGrow(
    request.body?.byteLength ?? 0,
    maxRequestBytes,
    'egress_body',
    'The request body is',
  )
  const inBody: PlaceDeps = {
    ...deps,
    inserts,
    grow(bytes) {
      grow(bytes)
      if (bytes > 0) hold(bytes)
    },
  }
  return {
    url: await fillQuery(url, inQuery),
    request: {
      ...request,
      headers,
      body: await fillBody(request.body, request.headers, inBody),
    },
    signature,
  }
}

/**
 * Returns a function that counts the size of a place with its secrets. It throws before the size exceeds
 * `max`.
 */
function createGrow(size: number, max: number, code: RuntimeCode, what: string): Filling['grow'] {
  let held = size
  return (more) => {
    held += more
    if (held > max) throw tooLong(code, what, max)
  }
}

const tooLong = (code: RuntimeCode, what: string, max: number): RuntimeError =>
  new RuntimeError(code, `${what} over ${max} bytes, secrets included`)

function refuseInAddress({ hostname, pathname }: URL, { marks }: RevealDeps): void {
  if (holdsMark(hostname, marks)) throw misplaced('host')
  // The URL parser leaves characters that need no encoding, and decodes nothing.
  if (holdsMark(pathname, marks) || hidesMark(pathname, marks)) throw misplaced('path')
}

async function fillQuery(url: URL, deps: PlaceDeps): Promise<URL> {
  if (url.search === '') return url
  if (!holdsMark(url.search, deps.marks) && !hidesMark(url.search, deps.marks)) return url
  const filled = new URL(url)
  filled.search = await fillPairs(url.search.slice(1), deps, 'query')
  // The URL parser encodes a few more characters.
  if (filled.href.length > ADDRESS_LIMITS.maxUrlBytes)
    throw tooLong('egress_secret', 'The address is', ADDRESS_LIMITS.maxUrlBytes)
  return filled
}

async function fillHeader(name: string, value: string, deps: PlaceDeps): Promise<string> {
  const where = `header ${name}`
  const basic = /^Basic +([A-Za-z0-9+/]{4,}=*) *$/i.exec(value)?.[1]
  if (basic !== undefined) {
    const pair = Buffer.from(basic, 'base64').toString()
    if (!holdsMark(pair, deps.marks)) return fill(value, 'plain', deps, where)
    const filled = Buffer.from(await fill(pair, 'plain', deps, where)).toString('base64')
    deps.onBasic(filled, basic)
    return `Basic ${filled}`
  }
  if (hidesMark(value, deps.marks)) throw misplaced('encoded', where)
  return fill(value, 'plain', deps, where)
}

/** Returns the headers with one value replaced. */
export const withHeader = (headers: HeaderList, name: string, value: string): HeaderList => [
  ...headers.filter(([own]) => own.toLowerCase() !== name.toLowerCase()),
  [name, value],
]
