/** Readings of a system that are kept as evidence, from before and after a revocation. */
import type { Reading } from '../../contract/models/reading.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import type { AppClient } from './client.ts'

/** Maximum number of readings of one item: the first, and the latest ones. */
const MAX_READINGS = 10

/** Recorder of readings: `over` wraps a client so that its readings are added. */
export type Watch = { readings: Reading[]; over(carrier: AppClient): AppClient }

/** Creates a recorder. `begun` is the current time by the same clock as all other times. */
export function createWatch(
  begun: Date,
  { connectors }: Pick<RequestContext, 'connectors'>,
): Watch {
  const startedMs = performance.now()
  const readings: Reading[] = []
  return {
    readings,
    over: (carrier) => ({
      ...carrier,
      looked({ capability, shown }) {
        const { connectorId } = carrier.app
        const connector = connectorId === null ? null : connectors.find(connectorId)
        const at = new Date(begun.getTime() + performance.now() - startedMs).toISOString()
        readings.push({
          ...{ at, capability, call_id: carrier.lastCall() },
          ...{ connector_digest: connector?.digest ?? null, shown },
        })
      },
    }),
  }
}

/** Adds readings to the kept ones. Of several equal ones in a row, keeps the first and the last. Pure. */
export function addReadings(kept: readonly Reading[], more: readonly Reading[]): Reading[] {
  const all: Reading[] = [...kept]
  for (const one of more) {
    const [before, last] = [all.at(-2), all.at(-1)]
    if (before?.shown === one.shown && last?.shown === one.shown) all.pop()
    all.push(one)
  }
  const [first] = all
  return all.length <= MAX_READINGS || first === undefined
    ? all
    : [first, ...all.slice(1 - MAX_READINGS)]
}
