/**
 * Runs one case: its calls in the real sandbox, each in a fresh isolate, against the case's own exchanges.
 */
import { CAPABILITIES } from '../contract/capabilities/capabilities.ts'
import type { Case, Step } from '../contract/connector/cases.ts'
import { errorBody } from '../contract/envelope/envelope.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import { CEILINGS } from '../contract/limits/ceilings.ts'
import { mapValues } from '../contract/schema/keys.ts'
import { membersOf } from '../contract/schema/record.ts'
import type { exchange } from '../egress/exchange/exchange.ts'
import { createEgress, type Egress } from '../egress/fetch.ts'
import { createInvoke } from '../invoke/invoke.ts'
import { createPageTokens } from '../invoke/page-token.ts'
import type { CallLog, InvokeDeps, ServedVersion } from '../invoke/ports.ts'
import { differences } from './differences.ts'
import { rejectTest } from './not-here.ts'
import { createScriptedUpstream } from './scripted-upstream.ts'

const ceilings = { ...mapValues(CEILINGS, (row) => row.default), maxPages: 1000 }

let fresh = 0

/** Function in the place of the network. */
type Exchange = typeof exchange

/** Environment of the cases: the version, and the function that carries out its calls. */
export type Stage = {
  version: ServedVersion
  run: InvokeDeps['run']
  log?: CallLog
  locate?: InvokeDeps['locate']
}

/** Body of an answer. */
export type AnswerBody = Record<string, unknown>

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

/**
 * Makes the calls of a case, one after another, each with its own system. Ends early if a page has no next
 * one.
 *
 * @param systemOf Returns the function in the place of the network for the call of this number.
 */
export async function* playCase(
  one: Case,
  { version, run, log = () => {}, locate = async () => null }: Stage,
  systemOf: (index: number) => Exchange,
): AsyncGenerator<AnswerBody> {
  const pageTokens = createPageTokens(['case'.repeat(8)])
  // One egress for all pages: the next page reuses the token of an exchange.
  let system: Exchange
  const egress = createEgress({
    privateGrants: new Map(),
    proxy: null,
    userAgent: 'keyway/check',
    exchange: (...sent) => system(...sent),
  })
  let token: string | undefined
  for (const index of (one.pages ?? [one]).keys()) {
    if (index > 0 && token === undefined) return
    system = systemOf(index)
    const page = { ...one.page, ...(token === undefined ? {} : { token }) }
    const body = await call(one, page, { version, run, pageTokens, log, locate, egress })
    yield body
    token = textOf(membersOf(body['page'])['token'])
  }
}

/** Result of a case: the differences from its expectations, and the actual answers. */
type Played = {
  findings: string[]
  /** Answer of each call. */
  bodies: AnswerBody[]
  /** Whether the requests were those of the case. If so, only answers can differ. */
  hasExpectedRequests: boolean
}

/** Runs a case against its own exchanges and returns the result. */
export async function judgeCase(one: Case, stage: Stage): Promise<Played> {
  const steps: readonly Step[] = one.pages ?? [one]
  const played: Played = { findings: [], bodies: [], hasExpectedRequests: true }
  let upstream = createScriptedUpstream([])
  const systemOf = (index: number) => {
    upstream = createScriptedUpstream(steps[index]?.upstream ?? [])
    return upstream.exchange
  }
  for await (const body of playCase(one, stage, systemOf)) {
    const index = played.bodies.push(body) - 1
    const step = steps[index]
    if (step === undefined) break
    const at = steps.length > 1 ? `page ${index + 1}: ` : ''
    const sent = upstream.judge()
    const addFindings = (texts: string[]) => played.findings.push(...texts.map((text) => at + text))
    played.hasExpectedRequests &&= sent.findings.length === 0
    // Everything after an unexpected request or an unexpected error is its consequence.
    if (sent.astray) {
      addFindings(sent.findings)
      return played
    }
    const judged = judgeStep(step, body)
    if (body['is_error'] === true && step.error === undefined) {
      addFindings(judged)
      return played
    }
    addFindings([...sent.findings, ...judged])
  }
  const { length } = played.bodies
  if (length < steps.length) {
    played.hasExpectedRequests = false
    played.findings.push(`page ${length}: another page is expected, but there is no token`)
  }
  return played
}

type CallDeps = {
  version: ServedVersion
  run: InvokeDeps['run']
  pageTokens: InvokeDeps['pageTokens']
  log: CallLog
  locate: InvokeDeps['locate']
  egress: Egress
}

async function call(one: Case, page: object, deps: CallDeps): Promise<AnswerBody> {
  const { version, run, pageTokens, log, locate, egress } = deps
  const invoke = createInvoke({
    performOAuth: rejectTest,
    find: () => version,
    byDigest: () => version,
    // An isolate of its own for each call: connectors must not rely on module variables. A case runs once,
    // because its upstream answers each request once.
    run: (lane, laneCall) =>
      run(lane, { ...laneCall, isolateKey: `case ${++fresh}`, hasWritten: () => true }),
    openEgress: ({ capability, version: { id, manifest }, ...rest }) => {
      const { level } = CAPABILITIES[capability]
      const open = egress.open({ connectorId: id, manifest, capability, level, ...rest })
      return { fetch: open.fetch, records: [], hasWritten: () => true }
    },
    pageTokens,
    locate,
    ceilings,
    log,
    onUpstream: () => {},
  })
  const { request, auth, credentials, settings, include_raw_data } = one
  return invoke({
    connectorId: version.id,
    capability: one.capability,
    text: JSON.stringify({ request, auth, credentials, settings, include_raw_data, page }),
    requestId: 'case',
    signal: new AbortController().signal,
  }).then(
    (answer) => membersOf(JSON.parse(answer.body.toString('utf8'))),
    (error: unknown) => {
      if (error instanceof RuntimeError) return membersOf(errorBody(error, version.id))
      throw error
    },
  )
}

function judgeStep(step: Step, body: Record<string, unknown>): string[] {
  if (step.error !== undefined) return judgeError(step.error, body)
  if (body['is_error'] === true)
    return [`expected an answer, got the error ${errorLine(body['error'])}`]
  const findings: string[] = []
  if (step.response !== undefined)
    findings.push(
      ...differences('response', withoutNulls(step.response), withoutNulls(body['response'])),
    )
  if (step.raw_data !== undefined)
    findings.push(...differences('raw_data', step.raw_data, body['raw_data']))
  const more = body['page'] !== null
  if (step.more !== undefined && step.more !== more)
    findings.push(`expected ${more ? 'no further' : 'another'} page`)
  return findings
}

function judgeError(expected: NonNullable<Step['error']>, body: Record<string, unknown>): string[] {
  if (body['is_error'] !== true)
    return [`expected the error ${expected.error_code}, got the answer ${show(body['response'])}`]
  const error = membersOf(body['error'])
  const { message, ...exact } = expected
  const findings = Object.entries(exact)
    .filter(([name, value]) => value !== undefined && error[name] !== value)
    .map(
      ([name, value]) =>
        `error.${name} should be ${value}, is ${error[name]}: ${error['message']}, raised in ${error['raised_in']}`,
    )
  if (message !== undefined && !String(error['message']).includes(message)) {
    findings.push(
      `error.message should contain ${JSON.stringify(message)}, is ${JSON.stringify(error['message'])}`,
    )
  }
  return findings
}

/**
 * Removes null members: `null` means absent. A case need not list the members that a connector leaves out.
 */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([, one]) => one !== null)
  return Object.fromEntries(kept.map(([name, one]) => [name, withoutNulls(one)]))
}

/** Formats an error in one line: the first thing that an author looks for. */
function errorLine(error: unknown): string {
  const { error_code, message, raised_in } = membersOf(error)
  return `${error_code}: ${message}${raised_in === null ? '' : `, raised in ${raised_in}`}`
}

const show = (value: unknown): string => JSON.stringify(value)?.slice(0, 2000) ?? 'nothing'
