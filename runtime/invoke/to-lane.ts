/** Converts a prepared call to what its lane runs, and cleans up when the lane is done. */
import type { CapabilityName } from '../contract/capabilities/capabilities.ts'
import type { CallSecrets } from '../contract/connector/secrets.ts'
import type { Call } from '../contract/envelope/envelope.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import type { ReplyLimits } from '../contract/limits/reply-limits.ts'
import type { Heads } from '../protocol/frames.ts'
import type { CallerSignal, LaneCall } from '../protocol/lane-call.ts'
import type { LoadedConnector } from '../protocol/loaded.ts'
import { type Redact, redactValue } from '../redact/redact.ts'
import { governorKeyOf } from './governor-key.ts'
import { callJson } from './hide-secrets.ts'
import type { PageScope, TokenPage } from './page-token.ts'
import type { InvokeDeps, OpenedEgress, ServedVersion } from './ports.ts'

/** A parsed and routed call, with placeholders instead of secrets. */
export type ReadyCall = {
  requestId: string
  version: ServedVersion
  capability: CapabilityName
  call: Call
  page: TokenPage
  scope: PageScope
  secrets: CallSecrets
  redact: Redact
}

type LaneDeps = {
  connector: LoadedConnector
  deadlineMs: number
  signal: CallerSignal
  limits?: ReplyLimits | undefined
  columns?: readonly string[] | undefined
}

type OnLane = {
  laneCall: LaneCall
  /**
   * Called when the lane is done. Aborts open requests and reports the requests made.
   *
   * @returns when the upstream systems allow the next request (`Retry-After`), in milliseconds since the
   * epoch; 0 if none asked
   */
  end(): number
  /**
   * Returns the unanswered request that the call waits for, as records name it; null if there is none. Call
   * it before `end`.
   */
  waitsFor(): string | null
}

/** Abort reason of requests that a call left open; created once, because capturing a stack is expensive. */
const CALL_OVER = new RuntimeError('caller_gone', 'the call has ended')

/** Creates the lane call. Egress is opened at the first request, because many calls make none. */
export function toLane(
  deps: Pick<InvokeDeps, 'openEgress' | 'onUpstream' | 'log' | 'ceilings' | 'requireServed'>,
  ready: ReadyCall,
  { connector, deadlineMs, signal, limits, columns }: LaneDeps,
): OnLane {
  const { version, capability, call, secrets, redact, requestId, page } = ready
  const endMs = Date.now() + deadlineMs
  let opened: { egress: OpenedEgress; over: AbortController } | null = null

  function open(): OpenedEgress {
    if (opened !== null) return opened.egress
    const over = new AbortController()
    const egress = deps.openEgress({
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
    opened = { egress, over }
    return egress
  }

  return {
    laneCall: {
      connector: limitMemory(connector, deps.ceilings.maxMemoryMb),
      version: deps.requireServed === undefined ? undefined : version,
      isolateKey: secrets.tenant,
      capability,
      callJson: callJson(secrets, page, version.manifest, {
        raw: call.includeRawData,
        table: columns ?? limits !== undefined,
        maxMarks: limits?.maxMarks,
      }),
      raw: call.includeRawData,
      limits,
      deadlineMs,
      signal,
      fetch: (request) => open().fetch(request),
      hasWritten: () => opened?.egress.hasWritten() ?? false,
      log: (line) => logLine(deps, ready, line),
    },
    waitsFor() {
      const open = (opened?.egress.records ?? []).filter(
        ({ status, error }) => status === null && error === null,
      )
      const [first] = open
      if (first === undefined) return null
      const one = open.find(({ sent }) => sent) ?? first
      const text = one.text === undefined ? '' : ` (${one.text})`
      const request = `${one.method} ${one.host}${one.path}${text}`
      return `${ready.redact(request)} ${one.sent ? 'had not answered' : 'had not been sent'}`
    },
    end() {
      if (opened === null) return 0
      const { egress, over } = opened
      over.abort(CALL_OVER)
      for (const record of egress.records) deps.onUpstream(version, capability, record, requestId)
      return egress.records.reduce((most, { askedUntilMs }) => Math.max(most, askedUntilMs), 0)
    },
  }
}

function limitMemory(connector: LoadedConnector, maxMemoryMb: number): LoadedConnector {
  return connector.memoryMb <= maxMemoryMb ? connector : { ...connector, memoryMb: maxMemoryMb }
}

/** Logs a line of the connector with the call's secrets redacted. */
function logLine(
  deps: Pick<InvokeDeps, 'log'>,
  { requestId, version, capability, redact }: ReadyCall,
  { level, message, fields }: Heads['log'],
): void {
  deps.log({
    level,
    message: redact(message),
    fields: redactValue(fields ?? null, redact),
    connector: version.id,
    capability,
    requestId,
  })
}
