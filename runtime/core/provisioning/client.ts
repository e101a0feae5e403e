/** Calling the system in which a request is carried out, and what a step came to. */

import { setTimeout as pause } from 'node:timers/promises'
import type { CapabilityName } from '../../contract/capabilities/capabilities.ts'
import type { Manifest } from '../../contract/connector/manifest.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import type { AccountStanding } from '../../contract/models/app.ts'
import type { Db } from '../../database/database.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import { callApp } from '../catalogue/apps/connections.ts'
import { enterApp, noteAway, noteBack, type SystemFault } from '../catalogue/apps/outages.ts'
import type { ConnectorAnswer } from '../kernel/context/connectors.ts'
import { responseAs } from '../kernel/context/connectors.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { faultOf } from '../kernel/faults.ts'
import { keptText } from '../kernel/kept-text.ts'
import { plainWords } from '../kernel/plain-words.ts'
import { keepStandings } from './standings.ts'

type ConnectorError = Extract<ConnectorAnswer, { ok: false }>
type CallError = Pick<ConnectorError['error'], 'error_code' | 'message'> &
  Pick<ConnectorError, 'retryAfterMs'>
export type SystemAnswer<T> = { ok: true; value: T } | { ok: false; error: CallError }

/**
 * What a step came to:
 * - done: the system holds what was wanted; `found` where it was so already;
 * - system, call, refused: it failed, as far as FAULTS says, and is tried again;
 * - paused: the app is, and nothing was tried;
 * - manual: trying again cannot help; people have to.
 */
export type StepOutcome =
  | { ok: true; found: boolean }
  | ({ ok: false; end: 'system' } & SystemFault)
  | { ok: false; end: 'call' | 'refused' | 'manual'; problem: string }
  | { ok: false; end: 'paused' }

/** What came of a step that was tried. */
export type Settled = Exclude<StepOutcome, { end: 'paused' }>
export type Failed = Extract<Settled, { ok: false }>

/** A failed call as an outcome; its message holds no secret. */
export function failedCall({ error_code: code, message, retryAfterMs }: CallError): Failed {
  const problem = keptText(`${plainWords(message)} (${code})`, 1000)
  const { reach } = faultOf(code)
  if (reach !== 'system') return { ok: false, end: reach, problem }
  return {
    ...{ ok: false, end: 'system', code, problem },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
}

/** Pause between two looks whether a system shows what was written, in milliseconds. */
const FIRST_LOOK_MS = 100
const LONGEST_LOOK_MS = 5000

/** An app that is connected, as far as a step needs it. */
export type AppClient = {
  app: AppRow
  manifest: Manifest
  has(capability: CapabilityName): boolean
  call<T>(capability: CapabilityName, request: Record<string, unknown>): Promise<SystemAnswer<T>>
  /** Reads a list page by page, as long as `more` answers true. */
  eachPage<T>(
    capability: CapabilityName,
    request: Record<string, unknown>,
    more: (items: T[]) => boolean,
  ): Promise<SystemAnswer<null>>
  /** The id of the last call, by which `keyway logs` finds it; null where none was made. */
  lastCall(): string | null
  /** What accounts were last read to be, by their ids. One that is not found is left to the next sync: it may be renamed. */
  standings: Map<string, AccountStanding>
  /** Hears what a reading showed, where readings are kept. */
  looked?(reading: { capability: CapabilityName; shown: boolean }): void
  /** Looks until it is so, as long as the system may take to show what was written (`consistency_ms`). */
  until(
    isSo: () => Promise<boolean | { ok: false; error: CallError }>,
  ): Promise<SystemAnswer<boolean>>
}

const CIRCLES = 'the listing begins again behind its end'

/** A connection that cannot be opened is a failure like one of the system's. */
function unusable(error: unknown): { ok: false; error: CallError } {
  if (!(error instanceof CoreError)) throw error
  return { ok: false, error: { error_code: 'unauthenticated', message: String(error.detail) } }
}

/** Does a step in an app's system, unless the app is paused; notes whether the system answered. */
export async function throughApp(
  db: Db,
  app: AppRow,
  parts: RequestContext,
  work: (carrier: AppClient) => Promise<StepOutcome>,
): Promise<StepOutcome> {
  const gate = await enterApp(db, app, await parts.now(db))
  if (!gate.open) return { ok: false, end: 'paused' }
  const carrier = carrierOf(parts, app)
  const outcome: StepOutcome =
    'app' in carrier ? await work(carrier) : { ok: false, end: 'system', ...carrier }
  if ('app' in carrier) await keepStandings(db, app, carrier.standings, parts)
  const now = await parts.now(db)
  if (!outcome.ok && outcome.end === 'system')
    await noteAway(db, app, gate, outcome, now, parts.tell)
  else if (gate.probe) await noteBack(db, app, now, parts.tell)
  return outcome
}

/** An app that can be called; why not, where it cannot be. */
function carrierOf(parts: RequestContext, app: AppRow): AppClient | SystemFault {
  const { id: appId, name, connectorId } = app
  if (app.disconnectedAt !== null || app.sealedConnection === null)
    return {
      code: 'unauthenticated',
      problem: `${name} is disconnected; connect it again with PUT /apps/${appId}`,
    }
  const connector = connectorId === null ? null : parts.connectors.find(connectorId)
  if (!connector)
    return {
      code: 'service_error',
      problem: `the connector ${connectorId} of ${name} is not served`,
    }
  const { manifest } = connector
  let lastCall: string | null = null

  async function answered(
    capability: CapabilityName,
    call: Parameters<typeof callApp>[3],
  ): Promise<Extract<ConnectorAnswer, { ok: true }> | { ok: false; error: CallError }> {
    parts.signal.throwIfAborted()
    const answer: ConnectorAnswer | { ok: false; error: CallError; retryAfterMs?: number } =
      await callApp(parts, app, capability, call).catch(unusable)
    lastCall = 'callId' in answer ? (answer.callId ?? null) : null
    // Ended by us, not by the system: the host that goes on finds out what came of it.
    parts.signal.throwIfAborted()
    if (answer.ok || answer.retryAfterMs === undefined) return answer
    return { ok: false, error: { ...answer.error, retryAfterMs: answer.retryAfterMs } }
  }

  return {
    app,
    manifest,
    standings: new Map(),
    lastCall: () => lastCall,
    has: (capability) => Object.hasOwn(manifest.capabilities, capability),
    async call<T>(capability: CapabilityName, request: Record<string, unknown>) {
      const answer = await answered(capability, { request })
      return answer.ok ? { ok: true, value: responseAs<T>(answer) } : answer
    },
    async eachPage<T>(
      capability: CapabilityName,
      request: Record<string, unknown>,
      more: (items: T[]) => boolean,
    ) {
      let token: string | null = null
      let first: string | null = null
      do {
        const answer = await answered(capability, { request, page: { token, size: null } })
        if (!answer.ok) return answer
        const items = responseAs<T[]>(answer)
        if (!more(items)) break
        const page = items.length > 0 ? JSON.stringify(items) : null
        // Single rows may come again: those that move, and those that are listed twice.
        if (page !== null && page === first)
          return { ok: false, error: { error_code: 'invalid_response', message: CIRCLES } }
        first ??= page
        token = answer.page?.token ?? null
      } while (token)
      return { ok: true, value: null }
    },
    async until(isSo) {
      const patienceMs = Math.max(parts.pace.consistencyMs, manifest.consistency_ms)
      let waitedMs = 0
      for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(lookMs * 2, LONGEST_LOOK_MS)) {
        const found = await isSo()
        if (typeof found === 'object') return found
        if (found || waitedMs >= patienceMs) return { ok: true, value: found }
        await pause(lookMs, undefined, { signal: parts.signal })
        waitedMs += lookMs
      }
    },
  }
}
