/** Makes a case of a recording. The case contains no secrets, is the same for every recording, and passes. */
import { isDeepStrictEqual } from 'node:util'
import type { Case, CaseDefaults } from '../../contract/connector/cases.ts'
import type { SecretParts } from '../../contract/connector/secrets.ts'
import type { HeaderList } from '../../egress/exchange/headers.ts'
import type { SeenHop } from '../../egress/hop/observed-hops.ts'
import type { Stage } from '../run-case.ts'
import { withoutNulls } from '../run-case.ts'
import { caseName } from './case-name.ts'
import { expectationOf } from './expectation.ts'
import { createHide } from './invent.ts'
import {
  type AskedAgain,
  type KeptExchange,
  NotRecordable,
  type PlayedAgain,
  playAgain,
} from './played.ts'
import type { Recording } from './recorder.ts'
import { inventedFor, parsed } from './secrets.ts'
import { createStable, stableNumber } from './stable.ts'

/** Maximum size of a case, in bytes. */
const MAX_CASE_BYTES = 256 * 1024

/** Response headers that do not matter to a connector, or that the body itself implies. */
const NOISE =
  /^(date|server|connection|keep-alive|age|via|vary|cache-control|pragma|expires|content-length|content-encoding|transfer-encoding|set-cookie|cf-.*|alt-svc|nel|report-to|server-timing|strict-transport-security|content-security-policy.*|access-control-.*|x-(request-id|correlation-id|trace.*|amz.*|runtime|powered-by|frame-options|content-type-options|xss-protection|download-options).*|.*request-id|.*trace-?id|traceparent)$/i

/** Maximum number of response headers that are tried one by one. */
const MAX_TRIED = 30

/**
 * Makes the case, with all defaults filled in.
 *
 * @param name Name of the case. Default: `caseName`, among the `cases` of the file.
 * @param nowMs Time of the recording, in milliseconds since the Unix epoch.
 * @throws NotRecordable with advice
 */
export async function caseOf(
  recording: Recording,
  stage: Stage,
  defaults: CaseDefaults,
  { name, cases, nowMs }: { name: string | undefined; cases: readonly unknown[]; nowMs: number },
): Promise<Case> {
  const { capability, pageSize, raw, calls } = recording
  const pagesOfHops = calls.map(({ hops }, index) =>
    // In the replay, one login serves all pages.
    index === 0 ? hops : hops.filter(({ isLogin }) => !isLogin),
  )
  const hops = calls.flatMap((one) => one.hops)
  const clear = clearOf(hops)
  const hide = createHide(
    inventedFor(clear, { version: stage.version, capability, hops }, defaults),
  )
  const stable = createStable(nowMs)
  const clean = (text: string) => stable(hide.text(text))
  const cleanAll = (value: unknown): unknown => {
    if (typeof value === 'string') return clean(value)
    if (typeof value === 'number') return stableNumber(value, nowMs)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(cleanAll)
    return Object.fromEntries(Object.entries(value).map(([at, one]) => [clean(at), cleanAll(one)]))
  }
  const pages = pagesOfHops.map((all) => all.map((hop) => keptOf(hop, clean, cleanAll)))
  const head = headOf(clear, cleanAll)
  const bare = {
    name: capability,
    capability,
    ...head,
    ...(pageSize === null ? {} : { page: { size: pageSize } }),
    ...(raw ? { include_raw_data: true } : {}),
    upstream: [],
    ...(pages.length > 1 ? { pages: pages.map(() => ({ upstream: [] })) } : {}),
  } satisfies Case
  const { played, again } = await trimmed(bare, pages, stage)
  const steps = played.calls.map((call, index) => {
    const upstream = call.asked.map((one, at) => exchangeOf(one, again.calls[index]?.asked[at]))
    const expectation = expectationOf(call.body, again.calls[index]?.body, calls[index]?.ok ?? true)
    // Otherwise the case would pass for a listing that never ends.
    const isEnd =
      pages.length > 1 && expectation.error === undefined && expectation.more === undefined
    return { upstream, ...expectation, ...(isEnd ? { more: false } : {}) }
  })
  const { error } = steps.at(-1) ?? {}
  const { request } = head
  const named = { ...bare, name: name ?? caseName({ capability, request, error }, cases) }
  const made: Case = steps.length > 1 ? { ...named, pages: steps } : { ...named, ...steps[0] }
  const text = JSON.stringify(made)
  if (hide.leaks(text))
    throw new NotRecordable(
      'it would contain a secret, because the secret is too short to distinguish from other text, or because the system returns it in another form; record with other credentials of at least 8 characters',
    )
  if (Buffer.byteLength(text) > MAX_CASE_BYTES)
    throw new NotRecordable(
      `it would have ${Buffer.byteLength(text)} bytes, more than ${MAX_CASE_BYTES}; request smaller pages (page.size)`,
    )
  return made
}

/** Returns request, credentials and settings of the call, as its caller sent them. */
function clearOf(hops: readonly SeenHop[]): SecretParts {
  const secrets = hops.find((one) => one.secrets !== null)?.secrets
  if (!secrets) throw new NotRecordable('it has neither credentials nor settings')
  return secrets.clear
}

function headOf({ auth, credentials, settings, request }: SecretParts, cleanAll: Clean) {
  const list = Object.entries(credentials ?? {}).map(([id, one]) => ({ ...one, id }))
  const signed = credentials === null ? { auth } : { credentials: list }
  // The cast: cleaning and removing nulls keep the members.
  return withoutNulls(cleanAll(plain({ request, ...signed, settings }))) as Pick<
    Case,
    'request' | 'auth' | 'credentials' | 'settings'
  >
}

type Clean = (value: unknown) => unknown

/** Returns a value as it is transmitted: without members that are undefined. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

function keptOf(hop: SeenHop, clean: (text: string) => string, cleanAll: Clean): KeptExchange {
  if (!hop.reply) throw new NotRecordable('its system did not answer; write this case by hand')
  const { status, headers, body } = hop.reply
  const text = String(body)
  if (!Buffer.from(text).equals(body))
    throw new NotRecordable('its system answered with binary data; write this case by hand')
  const json = parsed(hop)
  return {
    method: hop.method,
    url: clean(hop.url),
    reply: {
      status,
      headers: headers
        .filter(([name]) => !NOISE.test(name))
        .map(([name, value]) => [name.toLowerCase(), clean(value)] as const),
      text:
        json === null || typeof json !== 'object' ? clean(text) : JSON.stringify(cleanAll(json)),
    },
  }
}

/**
 * Replays the case without response headers, then with only those that make a difference. Replays the result
 * twice, to find the parts that change.
 */
async function trimmed(one: Case, pages: KeptExchange[][], stage: Stage) {
  const all = await playAgain(one, pages, stage)
  const names = [
    ...new Set(pages.flat().flatMap(({ reply }) => reply.headers.map(([name]) => name))),
  ]
  const needed = new Set(names)
  const play = () =>
    playAgain(
      one,
      pages.map((page) => page.map((kept) => withHeaders(kept, needed))),
      stage,
    )
  const isSame = async () => {
    try {
      return isDeepStrictEqual(outcome(await play()), outcome(all))
    } catch (error) {
      if (error instanceof NotRecordable) return false
      throw error
    }
  }
  needed.clear()
  if (!(await isSame())) {
    for (const name of names) needed.add(name)
    for (const name of names.slice(0, MAX_TRIED)) {
      needed.delete(name)
      if (!(await isSame())) needed.add(name)
    }
  }
  return { played: await play(), again: await play() }
}

const withHeaders = (kept: KeptExchange, needed: ReadonlySet<string>): KeptExchange => {
  const { headers, text } = kept.reply
  const neededHeaders = needed.size > 0 ? headers.filter(([name]) => needed.has(name)) : []
  const type = headers.filter(([name]) => name === 'content-type' && !needed.has(name))
  // A JSON body implies its content type in the case.
  const implied: HeaderList =
    type.length > 0 && isJson(text) ? [['content-type', 'application/json']] : []
  return { ...kept, reply: { ...kept.reply, headers: [...implied, ...neededHeaders] } }
}

const outcome = ({ calls }: PlayedAgain) =>
  calls.map(({ asked, body }) => [
    asked.map((one) => one.request),
    { ...body, page: body['page'] !== null },
  ])

/** Returns the exchange for the case. Parts of the request that differ each time are left out. */
function exchangeOf(one: AskedAgain, again: AskedAgain | undefined): Case['upstream'][number] {
  const { status, headers, text } = one.kept.reply
  const sent = one.headers.filter(
    ([name, value]) =>
      RECORDED_HEADERS.test(name) && again?.headers.some(([a, b]) => a === name && b === value),
  )
  const shownHeaders = headers.filter(
    ([name, value]) => !(name === 'content-type' && value === 'application/json' && isJson(text)),
  )
  return {
    request: one.request,
    ...(sent.length > 0
      ? { headers: Object.fromEntries(sent.map(([name, value]) => [name.toLowerCase(), value])) }
      : {}),
    ...(one.body !== '' && one.body === again?.body ? { body: bodyOf(one.body) } : {}),
    reply: {
      status,
      headers: Object.fromEntries(shownHeaders),
      ...(text === '' ? {} : { body: bodyOf(text) }),
    },
  }
}

/** Request headers that a case contains: credentials and conditions. */
const RECORDED_HEADERS = /^(authorization|if-(none-)?match|.*token|.*api-?key)$/i

const isJson = (text: string): boolean => typeof bodyOf(text) !== 'string'

/** Returns the JSON value, or the text if it is not JSON. */
function bodyOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : text
  } catch {
    // A form, a page or nothing.
    return text
  }
}
