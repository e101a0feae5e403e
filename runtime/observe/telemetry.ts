/**
 * Reports calls and connectors to the log, to the metrics, to the operator, or to a command that observes
 * them.
 */

import type { Lifecycle } from '../connectors/lifecycle/lifecycle.ts'
import type { RegistryListing } from '../connectors/registry/registry.ts'
import type { UpstreamRecord } from '../contract/connector/upstream-record.ts'
import { errorBody } from '../contract/envelope/envelope.ts'
import { ERRORS, type RuntimeError } from '../contract/errors/errors.ts'
import type { CallEnd, CallLog, InvokeDeps } from '../invoke/ports.ts'
import type { LanesEvents } from '../lanes/lanes.ts'
import { tellFailure } from './failure.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/** Observers of a host's calls, for a command. An event with an observer is not logged. */
export type Observers = {
  onUpstream?(
    connector: string,
    capability: string,
    record: UpstreamRecord,
    requestId: string,
  ): void
  onLog?: CallLog
  onChange?(listing: RegistryListing): void
  onCall?(call: CallEnd): void
}

type Telemetry = {
  changed(listing: RegistryListing): void
  upstream: InvokeDeps['onUpstream']
  logged: CallLog
  called(call: CallEnd): void
  /** Reports a call that was not made through the interface: no other code logs its failure. */
  calledByCore(call: CallEnd): void
}

/**
 * Returns the handlers of worker process events. The metrics may be created after the lanes.
 *
 * @param noted Records that a connector, by its digest, is in quarantine.
 */
export function workersTelemetry(
  log: Log,
  metrics: () => Metrics,
  noted: (digest: string) => Promise<void>,
): LanesEvents {
  return {
    onEnd(lane, end) {
      metrics().workerEnded(end.reason)
      if (end.reason !== 'stopped') log.warn({ lane, ...end }, 'a worker process ended')
    },
    onRepeat: () => metrics().callRepeated(),
    onQuarantined(digest) {
      log.warn({ digest }, 'a connector is in quarantine')
      noted(digest).catch((error) => log.warn({ err: error }, 'a quarantine could not be recorded'))
    },
    onSlowed(lane) {
      metrics().workerSlowed()
      log.warn({ lane }, 'a worker uses CPU without answering; it now runs after all others')
    },
  }
}

export function createTelemetry({
  log,
  metrics,
  lifecycle: { calls, minutes },
  observers,
}: {
  log: Log
  metrics: Metrics
  lifecycle: Pick<Lifecycle, 'calls' | 'minutes'>
  observers: Observers
}): Telemetry {
  const called = (call: CallEnd): void => {
    const { connector, capability, known, served, error, seconds, requestId, cause, appId } = call
    // Only existing names may become labels.
    if (known) {
      metrics.call(connector, capability, { code: codeOf(error), cause: cause.kind }, seconds)
      const ms = Math.round(seconds * 1e6) / 1e3
      minutes.called({ connector, capability, blame: error && ERRORS[error.code].blame, ms })
      const body = error && errorBody(error, '').error
      const outcome = body?.error_code ?? 'ok'
      const message = body?.message ?? null
      const told = { connector, capability, outcome, ms, cause, app_id: appId }
      calls.ended({ request_id: requestId, message, served, ...told })
      // Skip building a line per call if the log would drop it.
      if (log.isLevelEnabled('debug')) log.debug({ requestId, ...told }, 'a call ended')
    }
    observers.onCall?.(call)
  }
  return {
    called,
    calledByCore(call) {
      called(call)
      const { error, connector, capability, requestId, cause, appId } = call
      if (error === null) return
      const line = { requestId, connector, capability, cause, app_id: appId }
      // Not the system's own message: the caller has it, and it may be about other people.
      const words = `a call by the core ended in ${wireOf(error)}`
      // A missing object is a normal answer to a query.
      if (wireOf(error) === 'not_found') log.debug(line, words)
      else tellFailure(log, error, line, words)
    },
    changed(listing) {
      if (observers.onChange) return observers.onChange(listing)
      const { state, reason, ...row } = listing
      const line = { connector: row.id, ...row, state }
      if (state === 'ghost') log.warn(line, reason ?? 'a connector is not served')
      else
        log.info(
          line,
          row.serving ? 'a connector is served' : (reason ?? 'a connector is not served'),
        )
    },
    upstream(served, capability, record, requestId) {
      const { method, host, path, query, status, error, sentBytes, receivedBytes } = record
      const times = { ms: record.ms, begin_ms: record.beganAtMs }
      const sizes = { sent_bytes: sentBytes, received_bytes: receivedBytes }
      // Copied one by one: egress records contain more than operators may see.
      const { id } = served
      minutes.requested({ connector: id, capability, host, error, sentBytes, receivedBytes })
      calls.upstream(requestId, { method, host, path, query, status, error, ...times, ...sizes })
      const outcome = record.error ?? `${Math.floor((record.status ?? 0) / 100)}xx`
      metrics.upstream(served.id, outcome, record.ms / 1000)
      if (observers.onUpstream)
        return observers.onUpstream(served.id, capability, record, requestId)
      const { text: _text, ...told } = record
      log.debug({ connector: served.id, capability, requestId, ...told }, 'upstream request')
    },
    logged(line) {
      calls.logged(line.requestId, line)
      if (observers.onLog) return observers.onLog(line)
      const { level, message, ...rest } = line
      log[level](rest, message)
    },
  }
}

/** Returns the code that the caller received. */
const wireOf = (error: RuntimeError | null): string =>
  error === null ? 'ok' : errorBody(error, '').error.error_code

const codeOf = (error: RuntimeError | null): string => error?.code ?? 'ok'
