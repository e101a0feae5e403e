/**
 * One capability call, from the caller's text to the answer's bytes: a straight line of values. Knows
 * which version serves and how to page; knows nothing of HTTP, processes or sockets, which are handed in.
 */
import { hash } from 'node:crypto'
import { CAPABILITIES, type CapabilityName, isCapability } from '../contract/capabilities.ts'
import { type Call, parseCall, successBody } from '../contract/envelope.ts'
import { RuntimeError } from '../contract/errors.ts'
import type { Reply } from '../contract/frames.ts'
import type { LaneReply } from '../contract/lane-call.ts'
import type { LoadedConnector } from '../contract/loaded.ts'
import { normalizeId } from '../contract/manifest.ts'
import { LISTED_STATUSES } from '../contract/models/account.ts'
import { hostPerforms } from '../contract/oauth.ts'
import { createMarks } from '../contract/placeholder.ts'
import { type Redact, redactValue } from '../contract/redact.ts'
import { CORE_REPLY_LIMITS, overLimits } from '../contract/reply-limits.ts'
import type { CallSecrets } from '../contract/secrets.ts'
import { answerError } from './answer-error.ts'
import { checkDeclaredTypes } from './declared-types.ts'
import { rawWithoutEchoes, withoutEchoes } from './echoes.ts'
import { governorKeyOf } from './governor-key.ts'
import { callJson, hideSecrets } from './hide-secrets.ts'
import type { Page, PageScope } from './page-token.ts'
import { perform } from './perform.ts'
import type {
  Answer,
  CallLog,
  Invocation,
  InvokeDeps,
  OpenedEgress,
  ServedVersion,
} from './ports.ts'
import { withRedactedCause } from './redact-error.ts'
import { advance, BEGUN } from './referee.ts'
import { createTurns } from './turns.ts'

export type Invoke = (invocation: Invocation) => Promise<Answer>

/** What the upstreams of a call said, in milliseconds since the epoch. */
type Asked = { untilMs: number }

/** What a call in its lane needs besides itself. */
type LaneMeans = { secrets: CallSecrets; redact: Redact; deadlineMs: number; asked: Asked }

const NOTHING: Buffer = Buffer.alloc(0)

/** What ends the requests that a call left open; made once, because an error's stack is not cheap. */
const CALL_OVER = new RuntimeError('caller_gone', 'the call has ended')

/**
 * Makes the function that carries out calls.
 *
 * It throws RuntimeError for everything that can go wrong; `details.page` repeats the caller's page.
 */
export function createInvoke(deps: InvokeDeps): Invoke {
  const { turns = createTurns() } = deps
  const marks = createMarks()

  return async (invocation) => {
    const { version, capability, isEnding } = route(deps, invocation)
    const call = parseCall(invocation.text, {
      plain: isPlain(capability),
      request: version.request(capability) as never,
      settings: version.settings,
      manifest: version.manifest,
    })
    checkDeclaredTypes(version.manifest, capability, call.request)
    const { page } = call
    if (isEnding && page.token === null) throw unknownConnector(invocation.connectorId)
    const asked: Asked = { untilMs: 0 }
    try {
      return hostPerforms(version.manifest, capability)
        ? await perform(deps, invocation, version, capability, call)
        : await carryOut(invocation, version, capability, call, asked)
    } catch (error) {
      // The envelope repeats the page, so that the caller can resume there.
      if (error instanceof RuntimeError && page.token !== null) error.details.page = page
      const leftMs = asked.untilMs - Date.now()
      if (error instanceof RuntimeError && leftMs > 0) error.details.retryAfterMs = leftMs
      throw error
    }
  }

  async function carryOut(
    invocation: Invocation,
    routed: ServedVersion,
    capability: CapabilityName,
    call: Call,
    asked: Asked,
  ): Promise<Answer> {
    const scope = {
      connector: routed.key,
      capability,
      request: call.request,
      settings: call.settings,
    }
    const { version, page } = await openPage(deps, routed, call, scope)
    // Taken back since the sequence began: what that version does for it is not to run.
    if (!version.request(capability))
      throw new RuntimeError('capability_missing', `${version.id} does not offer ${capability} now`)
    const { limits } = version.manifest
    const deadlineMs = Math.min(limits.deadline_ms, deps.ceilings.maxDeadlineMs)
    const concurrency = Math.min(limits.concurrency, deps.ceilings.maxConcurrency)
    const isolateKey = isolateKeyOf(call)
    const { secrets, redact } = hideSecrets(call, {
      version,
      capability,
      tenant: isolateKey,
      marks,
    })
    const startedMs = Date.now()
    const leave =
      turns.tryTake(version.key, isolateKey, concurrency) ??
      (await waitForTurn(invocation.signal, version.key, isolateKey, concurrency, deadlineMs))
    try {
      const leftMs = Math.max(1, deadlineMs - (Date.now() - startedMs))
      const means = { secrets, redact, deadlineMs: leftMs, asked }
      const reply = await runInLane(invocation, version, capability, call, page, means).catch(
        (error) => {
          throw withLimit(error, deadlineMs)
        },
      )
      if (!reply.reply.ok) throw await failure(version, capability, reply, call, redact)
      const { leftOut = 0 } = reply.reply
      if (leftOut > 0)
        tellLeftOut(leftOut, { version, capability, requestId: invocation.requestId })
      return answer(version, capability, reply.reply, reply.body, page, scope, call, redact)
    } catch (error) {
      throw withRedactedCause(error, redact)
    } finally {
      leave()
    }
  }

  /** The slow path: signals are made only for calls that really wait. */
  async function waitForTurn(
    caller: AbortSignal,
    connector: string,
    tenant: string,
    concurrency: number,
    deadlineMs: number,
  ): Promise<() => void> {
    const signal = AbortSignal.any([caller, AbortSignal.timeout(deadlineMs)])
    try {
      return await turns.take(connector, tenant, concurrency, signal)
    } catch (error) {
      throw error instanceof RuntimeError ? error : waitedInVain(caller, deadlineMs)
    }
  }

  async function runInLane(
    invocation: Invocation,
    version: ServedVersion,
    capability: CapabilityName,
    call: Call,
    page: Page,
    { secrets, redact, deadlineMs, asked }: LaneMeans,
  ): Promise<LaneReply> {
    const connector: LoadedConnector = await version.load()
    const over = new AbortController()
    const endMs = Date.now() + deadlineMs
    let egress: OpenedEgress | null = null
    // At the first request: many calls make none.
    const open = () => {
      egress ??= deps.openEgress({
        version,
        capability,
        tenant: secrets.tenant,
        settings: call.settings,
        signal: over.signal,
        endMs,
        governorKey: () => governorKeyOf(call),
        redact,
        secrets,
      })
      return egress
    }
    const log = callLog(deps.log, invocation.requestId, version, capability, redact)
    try {
      return await deps.run(version.lane, {
        connector: limitMemory(connector, deps.ceilings.maxMemoryMb),
        isolateKey: secrets.tenant,
        capability,
        callJson: callJson(secrets, page, version.manifest),
        raw: call.includeRawData,
        limits: invocation.limits,
        deadlineMs,
        signal: invocation.signal,
        fetch: (request) => open().fetch(request),
        hasWritten: () => egress?.hasWritten() ?? false,
        log,
      })
    } finally {
      if (egress) {
        asked.untilMs = longestAsked(egress)
        endEgress(egress, over, version, capability, invocation.requestId)
      }
    }
  }

  /** What is still open ends with its call; what was sent is told. */
  function endEgress(
    { records }: OpenedEgress,
    over: AbortController,
    version: ServedVersion,
    capability: CapabilityName,
    requestId: string,
  ): void {
    over.abort(CALL_OVER)
    for (const record of records) deps.onUpstream(version, capability, record, requestId)
  }

  /** The error of a failed reply; where something was thrown, with its place in the author's files. */
  async function failure(
    version: ServedVersion,
    capability: CapabilityName,
    { reply, body, fetchError }: LaneReply,
    call: Call,
    redact: Redact,
  ): Promise<RuntimeError> {
    const failed = reply as Extract<Reply, { ok: false }>
    const at = 'error' in failed ? failed.error.at : []
    const place = at.length === 0 ? null : await deps.locate(version.digest, at)
    const raisedIn = `${version.id}:${capability}${place === null ? '' : ` (${place})`}`
    const error = answerError(failed, fetchError, raisedIn, redact)
    const raw = call.includeRawData ? rawOfError(body) : null
    if (raw)
      error.details.raw = isPlain(capability)
        ? (withoutEchoes(raw, redact) as Record<string, unknown>)
        : raw
    return error
  }

  function tellLeftOut(
    count: number,
    { version, ...at }: { version: ServedVersion; capability: string; requestId: string },
  ): void {
    const message = `${count} ${count === 1 ? 'account' : 'accounts'} left out: only ${LISTED_STATUSES.join(' and ')} leave`
    deps.log({ level: 'debug', message, fields: null, connector: version.id, ...at })
  }

  function answer(
    version: ServedVersion,
    capability: CapabilityName,
    { cursorJson, responseBytes }: Extract<Reply, { ok: true }>,
    body: Buffer,
    page: Page,
    scope: PageScope,
    call: Call,
    redact: Redact,
  ): Answer {
    const next =
      cursorJson === 'null'
        ? null
        : { token: deps.pageTokens.seal(following(page, cursorJson), scope), size: page.size }
    const given = call.includeRawData ? body.subarray(responseBytes) : NOTHING
    const raw = isPlain(capability) ? rawWithoutEchoes(given, redact) : given
    return {
      body: successBody(body.subarray(0, responseBytes), raw, next),
      served: `${version.id}@${version.version}`,
    }
  }

  /** The page that a cursor leads to. */
  function following({ size, digest, course, cursorJson: asked }: Page, cursorJson: string): Page {
    const { maxPages } = deps.ceilings
    return { cursorJson, size, digest, course: advance(course, asked, cursorJson, maxPages) }
  }
}

/** Until when the upstreams of a call asked to be left alone. */
const longestAsked = ({ records }: OpenedEgress): number =>
  records.reduce((untilMs, { askedUntilMs }) => Math.max(untilMs, askedUntilMs), 0)

const isPlain = (capability: CapabilityName): boolean => 'plain' in CAPABILITIES[capability]

/** The version and capability of a call: the order of connector-interface.md section 1.1. */
function route({ find, ending }: InvokeDeps, { connectorId, capability: asked }: Invocation) {
  const served = find(connectorId)
  const version = served ?? ending?.(connectorId) ?? null
  if (!version) throw unknownConnector(connectorId)
  const capability = normalizeId(asked)
  if (!isCapability(capability))
    throw new RuntimeError(
      'capability_unknown',
      `there is no capability ${JSON.stringify(asked.slice(0, 64))}`,
    )
  if (!version.request(capability))
    throw new RuntimeError('capability_missing', `${version.id} does not implement ${capability}`)
  return { version, capability, isEnding: served === null }
}

const unknownConnector = (id: string): RuntimeError =>
  new RuntimeError('connector_unknown', `there is no connector ${JSON.stringify(id.slice(0, 64))}`)

/**
 * The page to run, and the version to run it on: a sequence goes on where it began, also when another
 * version has taken over meanwhile.
 */
async function openPage(
  { pageTokens, byDigest }: InvokeDeps,
  routed: ServedVersion,
  { page }: Call,
  scope: PageScope,
): Promise<{ version: ServedVersion; page: Page }> {
  if (page.token === null) {
    return {
      version: routed,
      page: { cursorJson: 'null', size: page.size, digest: routed.digest, course: BEGUN },
    }
  }
  const opened = pageTokens.open(page.token, scope)
  if (page.size !== null && page.size !== opened.size) {
    throw new RuntimeError(
      'page_token_invalid',
      `page.size: found ${page.size}, the sequence began with ${opened.size ?? 'none'}; keep it the same`,
    )
  }
  const version =
    opened.digest === routed.digest ? routed : await byDigest(routed.id, opened.digest)
  if (!version) {
    throw new RuntimeError(
      'page_token_invalid',
      'the version of the connector that began this sequence is gone; start again without a token',
    )
  }
  return { version, page: opened }
}

/**
 * Which tenant's isolate: settings and credentials, by digest. May change with every token refresh, and
 * with the order of members that a caller chose.
 */
function isolateKeyOf({ settings, auth, credentials }: Call): string {
  return hash('sha256', JSON.stringify([settings, auth, credentials]), 'base64url')
}

function limitMemory(connector: LoadedConnector, maxMemoryMb: number): LoadedConnector {
  return connector.memoryMb <= maxMemoryMb ? connector : { ...connector, memoryMb: maxMemoryMb }
}

function waitedInVain(caller: AbortSignal, deadlineMs: number): RuntimeError {
  return caller.aborted
    ? new RuntimeError('caller_gone', 'the caller hung up')
    : new RuntimeError('deadline_passed', `no turn within ${deadlineMs} ms`)
}

/** Largest raw data of an error: unlike a reply's it is parsed, by the host. */
const MAX_ERROR_RAW = { ...CORE_REPLY_LIMITS, maxBytes: 1024 * 1024 }

function rawOfError(body: Buffer): Record<string, unknown> | null {
  if (body.length === 0 || overLimits(body, MAX_ERROR_RAW) !== null) return null
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    // A worker that sends this is not ours any more; the error itself still reaches the caller.
    return null
  }
}

/** Says which limit it was: the lane knows only what was left of it. */
function withLimit(error: unknown, deadlineMs: number): unknown {
  if (!(error instanceof RuntimeError) || error.code !== 'deadline_passed') return error
  return new RuntimeError(error.code, `no answer within ${deadlineMs} ms`, error.details, error)
}

/** Lines of the connector, without the call's secrets. */
function callLog(
  log: CallLog,
  requestId: string,
  version: ServedVersion,
  capability: string,
  redact: Redact,
) {
  return ({
    level,
    message,
    fields,
  }: {
    level: 'debug' | 'info' | 'warn' | 'error'
    message: string
    fields: unknown
  }) =>
    log({
      level,
      message: redact(message),
      fields: redactValue(fields ?? null, redact),
      connector: version.id,
      capability,
      requestId,
    })
}
