/**
 * A request with its secrets, as it is sent: made from the form with placeholders, afresh for every hop,
 * after the hop has been judged. What cannot be replaced is refused: a placeholder that leaves does no
 * harm, but nobody would find out why the upstream says no.
 */
import { type RuntimeCode, RuntimeError } from '../../contract/errors/errors.ts'
import type { OutgoingRequest } from '../exchange/exchange.ts'
import type { HeaderList } from '../exchange/headers.ts'
import { ADDRESS_LIMITS } from '../limits/limits.ts'
import { type Filling, fill, hidesMark, holdsMark, meaningOfWhole } from './fill.ts'
import { fillBody, fillPairs } from './fill-body.ts'
import { misplaced } from './refuse.ts'

/** A request with its values, and what the whole of it is to be signed with. */
export type Revealed = { url: URL; request: OutgoingRequest; signature: string | null }

/** What a request may have with its secrets, and who counts what its body grows by, in bytes. */
export type RequestRoom = {
  maxHeaderBytes: number
  maxRequestBytes: number
  hold(bytes: number): void
}

type Means = Omit<Filling, 'grow' | 'inserts'> & {
  /** Whether what is asked for is a signature of the whole request. */
  signsRequest(sign: string): boolean
  /** The base64 of a Basic value, with secrets and without, to be known again in replies. */
  onBasic(value: string, placeholder: string): void
  room: RequestRoom
}

/** The same for one place of a request, which may grow so far. */
type Placed = Means & Filling

/**
 * Replaces every placeholder of a request.
 *
 * @param url The judged address, with placeholders.
 * @throws egress_secret naming the position, and what to do instead; egress_header, egress_body for one that is
 * too large with its secrets, and what `hold` throws
 */
export async function reveal(request: OutgoingRequest, url: URL, means: Means): Promise<Revealed> {
  const { maxHeaderBytes, maxRequestBytes, hold } = means.room
  const inserts = new Map<string, string>()
  const headersSize = request.headers.reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    0,
  )
  const inHeaders: Placed = {
    ...means,
    inserts,
    grow: createGrow(headersSize, maxHeaderBytes, 'egress_header', 'The request headers are'),
  }
  // Before anything looks at the text.
  inHeaders.grow(0)
  refuseInAddress(url, means)
  const headers: [string, string][] = []
  let signature: string | null = null
  for (const [name, value] of request.headers) {
    if (holdsMark(name, means.marks)) throw misplaced('header_name')
    const meaning = meaningOfWhole(value, means)
    if (meaning !== null && 'sign' in meaning && means.signsRequest(meaning.sign)) {
      if (name.toLowerCase() !== 'authorization') throw misplaced('signature', name)
      signature = meaning.sign
    } else headers.push([name, await fillHeader(name, value, inHeaders)])
  }
  const inQuery: Placed = {
    ...means,
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
  const inBody: Placed = {
    ...means,
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

/** Counts what a place holds with its secrets; throws before it is more than may be. */
function createGrow(size: number, max: number, code: RuntimeCode, what: string): Filling['grow'] {
  let held = size
  return (more) => {
    held += more
    if (held > max) throw tooLong(code, what, max)
  }
}

const tooLong = (code: RuntimeCode, what: string, max: number): RuntimeError =>
  new RuntimeError(code, `${what} over ${max} bytes, secrets included`)

function refuseInAddress({ hostname, pathname }: URL, { marks }: Means): void {
  if (holdsMark(hostname, marks)) throw misplaced('host')
  // The parser keeps what it need not encode, and decodes nothing.
  if (holdsMark(pathname, marks) || hidesMark(pathname, marks)) throw misplaced('path')
}

async function fillQuery(url: URL, means: Placed): Promise<URL> {
  if (url.search === '') return url
  if (!holdsMark(url.search, means.marks) && !hidesMark(url.search, means.marks)) return url
  const filled = new URL(url)
  filled.search = await fillPairs(url.search.slice(1), means, 'query')
  // The parser encodes a little more.
  if (filled.href.length > ADDRESS_LIMITS.maxUrlBytes)
    throw tooLong('egress_secret', 'The address is', ADDRESS_LIMITS.maxUrlBytes)
  return filled
}

async function fillHeader(name: string, value: string, means: Placed): Promise<string> {
  const where = `header ${name}`
  const basic = /^Basic +([A-Za-z0-9+/]{4,}=*) *$/i.exec(value)?.[1]
  if (basic !== undefined) {
    const pair = Buffer.from(basic, 'base64').toString()
    if (!holdsMark(pair, means.marks)) return fill(value, 'plain', means, where)
    const filled = Buffer.from(await fill(pair, 'plain', means, where)).toString('base64')
    means.onBasic(filled, basic)
    return `Basic ${filled}`
  }
  if (hidesMark(value, means.marks)) throw misplaced('encoded', where)
  return fill(value, 'plain', means, where)
}

/** The headers with another value for one of them. */
export const withHeader = (headers: HeaderList, name: string, value: string): HeaderList => [
  ...headers.filter(([own]) => own.toLowerCase() !== name.toLowerCase()),
  [name, value],
]
