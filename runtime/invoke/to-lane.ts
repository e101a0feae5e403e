/** A call made ready: what its lane is handed, and what is to be done when it comes back. */
import type { CapabilityName } from '../contract/capabilities.ts'
import type { Call } from '../contract/envelope.ts'
import { RuntimeError } from '../contract/errors.ts'
import type { Heads } from '../contract/frames.ts'
import type { CallerSignal, LaneCall } from '../contract/lane-call.ts'
import type { LoadedConnector } from '../contract/loaded.ts'
import { type Redact, redactValue } from '../contract/redact.ts'
import type { ReplyLimits } from '../contract/reply-limits.ts'
import type { CallSecrets } from '../contract/secrets.ts'
import { governorKeyOf } from './governor-key.ts'
import { callJson } from './hide-secrets.ts'
import type { Page, PageScope } from './page-token.ts'
import type { InvokeDeps, OpenedEgress, ServedVersion } from './ports.ts'

/** A call that is parsed and routed, its secrets hidden. */
export type ReadyCall = {
  requestId: string
  version: ServedVersion
  capability: CapabilityName
  call: Call
  page: Page
  scope: PageScope
  secrets: CallSecrets
  redact: Redact
}

type Means = {
  connector: LoadedConnector
  deadlineMs: number
  signal: CallerSignal
  limits?: ReplyLimits | undefined
}

export type OnLane = {
  laneCall: LaneCall
  /**
   * The lane is done with it: what is still open ends, what was sent is told.
   *
   * @returns until when its upstreams asked to be left alone, in milliseconds since the epoch; 0 where they did not
   */
  end(): number
}

/** What ends the requests that a call left open; made once, because an error's stack is not cheap. */
const CALL_OVER = new RuntimeError('caller_gone', 'the call has ended')

/** Makes what the lane runs. Egress is opened at the first request: many calls make none. */
export function toLane(
  deps: Pick<InvokeDeps, 'openEgress' | 'onUpstream' | 'log' | 'ceilings'>,
  ready: ReadyCall,
  { connector, deadlineMs, signal, limits }: Means,
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
      isolateKey: secrets.tenant,
      capability,
      callJson: callJson(secrets, page, version.manifest),
      raw: call.includeRawData,
      limits,
      deadlineMs,
      signal,
      fetch: (request) => open().fetch(request),
      hasWritten: () => opened?.egress.hasWritten() ?? false,
      log: (line) => tellLine(deps, ready, line),
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

/** A line of the connector, without the call's secrets. */
function tellLine(
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
