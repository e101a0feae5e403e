/** What is told of calls and connectors: to the log, the metrics, the operator, or a command that looks on. */
import { errorBody } from './contract/envelope.ts'
import type { RuntimeError } from './contract/errors.ts'
import type { CallEnd } from './http/connectors.ts'
import type { Metrics } from './http/metrics.ts'
import type { CallLog, InvokeDeps, UpstreamRecord } from './invoke/ports.ts'
import type { RecentCalls } from './lifecycle/calls.ts'
import type { Log } from './log.ts'
import type { Listing } from './registry/registry.ts'

/** Eyes of a command on a host's calls. What one of them sees is told to it in place of the log. */
export type Observers = {
  onUpstream?(
    connector: string,
    capability: string,
    record: UpstreamRecord,
    requestId: string,
  ): void
  onLog?: CallLog
  onChange?(listing: Listing): void
  onCall?(call: CallEnd): void
}

export type Told = {
  changed(listing: Listing): void
  upstream: InvokeDeps['onUpstream']
  logged: CallLog
  called(call: CallEnd): void
}

export function createTold({
  log,
  metrics,
  calls,
  observers,
}: {
  log: Log
  metrics: Metrics
  calls: RecentCalls
  observers: Observers
}): Told {
  return {
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
      const { method, host, path, status, error, ms, sentBytes, receivedBytes } = record
      const sizes = { sent_bytes: sentBytes, received_bytes: receivedBytes }
      // One by one: records of egress hold more than operators are told.
      calls.upstream(requestId, { method, host, path, status, error, ms, ...sizes })
      const outcome = record.error ?? `${Math.floor((record.status ?? 0) / 100)}xx`
      metrics.upstream(served.id, outcome, record.ms / 1000)
      if (observers.onUpstream)
        return observers.onUpstream(served.id, capability, record, requestId)
      log.debug({ connector: served.id, capability, requestId, ...record }, 'upstream request')
    },
    logged(line) {
      calls.logged(line.requestId, line)
      if (observers.onLog) return observers.onLog(line)
      const { level, message, ...rest } = line
      log[level](rest, message)
    },
    called(call) {
      const { connector, capability, known, error, seconds, requestId: request_id } = call
      const outcome = codeOf(error)
      // Only names that exist become labels.
      if (known) {
        metrics.call(connector, capability, outcome, seconds)
        const ms = Math.round(seconds * 1e6) / 1e3
        calls.ended({ request_id, connector, capability, outcome: wireOf(error), ms })
      }
      observers.onCall?.(call)
    },
  }
}

/** The code that the caller got. */
const wireOf = (error: RuntimeError | null): string =>
  error === null ? 'ok' : errorBody(error, '').error.error_code

const codeOf = (error: RuntimeError | null): string => error?.code ?? 'ok'
