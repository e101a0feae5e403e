/**
 * A request with its secrets, as it is sent: made from the form with placeholders, afresh for every hop,
 * after the hop has been judged. What cannot be replaced is refused: a placeholder that leaves does no
 * harm, but nobody would find out why the upstream says no.
 */
import type { OutgoingRequest } from '../exchange.ts'
import type { HeaderList } from '../headers.ts'
import { ADDRESS_LIMITS } from '../limits.ts'
import { type Filling, fill, hidesMark, holdsMark, meaningOfWhole } from './fill.ts'
import { fillBody, fillPairs } from './fill-body.ts'
import { misplaced, refuseSecret } from './refuse.ts'

/** A request with its values, and what the whole of it is to be signed with. */
export type Revealed = { url: URL; request: OutgoingRequest; signature: string | null }

type Means = Filling & {
  /** Whether what is asked for is a signature of the whole request. */
  signsRequest(sign: string): boolean
  /** The base64 of a Basic value, with secrets and without, to be known again in replies. */
  onBasic(value: string, placeholder: string): void
}

/**
 * Replaces every placeholder of a request.
 *
 * @param url The judged address, with placeholders.
 * @throws egress_secret naming the position, and what to do instead
 */
export async function reveal(request: OutgoingRequest, url: URL, means: Means): Promise<Revealed> {
  refuseInAddress(url, means)
  const headers: [string, string][] = []
  let signature: string | null = null
  for (const [name, value] of request.headers) {
    if (holdsMark(name, means.marks)) throw misplaced('header_name')
    const meaning = meaningOfWhole(value, means)
    if (meaning !== null && 'sign' in meaning && means.signsRequest(meaning.sign)) {
      if (name.toLowerCase() !== 'authorization') throw misplaced('signature', name)
      signature = meaning.sign
    } else headers.push([name, await fillHeader(name, value, means)])
  }
  return {
    url: await fillQuery(url, means),
    request: {
      ...request,
      headers,
      body: await fillBody(request.body, request.headers, means),
    },
    signature,
  }
}

function refuseInAddress({ hostname, pathname }: URL, { marks }: Filling): void {
  if (holdsMark(hostname, marks)) throw misplaced('host')
  // The parser keeps what it need not encode, and decodes nothing.
  if (holdsMark(pathname, marks) || hidesMark(pathname, marks)) throw misplaced('path')
}

async function fillQuery(url: URL, means: Filling): Promise<URL> {
  if (url.search === '') return url
  if (!holdsMark(url.search, means.marks) && !hidesMark(url.search, means.marks)) return url
  const filled = new URL(url)
  filled.search = await fillPairs(url.search.slice(1), means, 'query')
  if (filled.href.length > ADDRESS_LIMITS.maxUrlBytes)
    throw refuseSecret(`With its secrets the address is over ${ADDRESS_LIMITS.maxUrlBytes} bytes`)
  return filled
}

async function fillHeader(name: string, value: string, means: Means): Promise<string> {
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

/** The headers with another value for one of them, whoever set it. */
export const withHeader = (headers: HeaderList, name: string, value: string): HeaderList => [
  ...headers.filter(([own]) => own.toLowerCase() !== name.toLowerCase()),
  [name, value],
]
