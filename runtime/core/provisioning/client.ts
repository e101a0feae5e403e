/** Calling the system in which a request is carried out, and the outcomes of a step. */

import { setTimeout as pause } from 'node:timers/promises'
import type { CapabilityName } from '../../contract/capabilities/capabilities.ts'
import type { Manifest } from '../../contract/connector/manifest.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import type { AccountStanding } from '../../contract/models/app.ts'
import type { Db } from '../../database/database.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import { callApp } from '../catalogue/apps/connections.ts'
import {
  recordOutage,
  recordRecovery,
  requestCall,
  type SystemFault,
} from '../catalogue/apps/outages.ts'
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
/** Result of a call. */
export type SystemAnswer<T> = { ok: true; value: T } | { ok: false; error: CallError }

/**
 * Outcome of a step:
 * - ok: the system has the wanted state; `found` if it already had it before
 * - system, call, refused: failed, classified by FAULTS, and tried again
 * - paused: the app is paused, and nothing was tried
 * - manual: trying again cannot help; people have to act
 */
export type StepOutcome =
  | { ok: true; found: boolean }
  | ({ ok: false; fault: 'system' } & SystemFault)
  | { ok: false; fault: 'call' | 'refused' | 'manual'; problem: string }
  | { ok: false; fault: 'paused' }

/** Outcome of a step that was tried. */
export type FinalOutcome = Exclude<StepOutcome, { fault: 'paused' }>
export type Failed = Extract<FinalOutcome, { ok: false }>

/** Converts a failed call to an outcome. Its message holds no secret. */
export function failedCall({ error_code: code, message, retryAfterMs }: CallError): Failed {
  const problem = keptText(`${plainWords(message)} (${code})`, 1000)
  const { reach } = faultOf(code)
  if (reach !== 'system') return { ok: false, fault: reach, problem }
  return {
    ...{ ok: false, fault: 'system', code, problem },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
}

/** First and longest pause between two checks of whether a system shows a change, in milliseconds. */
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 5000

/** Connected app, with the operations that a step needs. */
export type AppClient = {
  app: AppRow
  manifest: Manifest
  has(capability: CapabilityName): boolean
  call<T>(capability: CapabilityName, request: Record<string, unknown>): Promise<SystemAnswer<T>>
  /** Reads a list page by page, as long as `more` returns true. */
  eachPage<T>(
    capability: CapabilityName,
    request: Record<string, unknown>,
    more: (items: T[]) => boolean,
  ): Promise<SystemAnswer<null>>
  /** Returns the id of the last call, by which `keyway logs` finds it, or null if there was none. */
  lastCall(): string | null
  /**
   * Standings of accounts at their last reading, by id. An account that was not found is left to the next
   * sync: it may have been renamed.
   */
  standings: Map<string, AccountStanding>
  /** Receives the result of each reading, if readings are kept. */
  looked?(reading: { capability: CapabilityName; shown: boolean }): void
  /** Polls until `isSo` is true, at most as long as a system may take to show a change (`consistency_ms`). */
  until(
    isSo: () => Promise<boolean | { ok: false; error: CallError }>,
  ): Promise<SystemAnswer<boolean>>
}

const CIRCLES = 'the listing starts again after its end'

/** Converts the error of a connection that cannot be opened to a failed call. */
function unusable(error: unknown): { ok: false; error: CallError } {
  if (!(error instanceof CoreError)) throw error
  return { ok: false, error: { error_code: 'unauthenticated', message: String(error.detail) } }
}

/** Runs a step in an app's system, unless the app is paused. Records whether the system answered. */
export async function throughApp(
  db: Db,
  app: AppRow,
  parts: RequestContext,
  work: (carrier: AppClient) => Promise<StepOutcome>,
): Promise<StepOutcome> {
  const gate = await requestCall(db, app, await parts.now(db))
  if (!gate.open) return { ok: false, fault: 'paused' }
  const carrier = carrierOf(parts, app)
  const outcome: StepOutcome =
    'app' in carrier ? await work(carrier) : { ok: false, fault: 'system', ...carrier }
  if ('app' in carrier) await keepStandings(db, app, carrier.standings, parts)
  const now = await parts.now(db)
  if (!outcome.ok && outcome.fault === 'system')
    await recordOutage(db, app, gate, outcome, now, parts.tell)
  else if (gate.probe) await recordRecovery(db, app, now, parts.tell)
  return outcome
}

/** Returns a client of the app, or the reason that it cannot be called. */
function carrierOf(parts: RequestContext, app: AppRow): AppClient | SystemFault {
  const { id: appId, name, connectorId } = app
  if (app.disconnectedAt !== null || app.sealedConnection === null)
    return {
      code: 'unauthenticated',
      problem: `${name} is disconnected; reconnect it with PUT /apps/${appId}`,
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
    // Keyway aborted the call, not the system. The host that takes over finds out its result.
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
        // Only a whole page counts: single rows may repeat if they move or are listed twice.
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
      for (let lookMs = FIRST_PAUSE_MS; ; lookMs = Math.min(lookMs * 2, MAX_PAUSE_MS)) {
        const found = await isSo()
        if (typeof found === 'object') return found
        if (found || waitedMs >= patienceMs) return { ok: true, value: found }
        await pause(lookMs, undefined, { signal: parts.signal })
        waitedMs += lookMs
      }
    },
  }
}
