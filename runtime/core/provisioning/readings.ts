/** Readings of a system that are kept as evidence: those before something is taken, and those after. */
import type { Reading } from '../../contract/models/reading.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import type { AppClient } from './client.ts'

/** Most readings of one thing: the first, and the latest of many tries. */
const MOST = 10

export type Watch = { readings: Reading[]; over(carrier: AppClient): AppClient }

/** Notes what clients are read to show; `begun` is now, by the clock that all moments are of. */
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

/** Adds readings to those that are kept: of several in a row that show the same, the first and the last. Pure. */
export function addReadings(kept: readonly Reading[], more: readonly Reading[]): Reading[] {
  const all: Reading[] = [...kept]
  for (const one of more) {
    const [before, last] = [all.at(-2), all.at(-1)]
    if (before?.shown === one.shown && last?.shown === one.shown) all.pop()
    all.push(one)
  }
  const [first] = all
  return all.length <= MOST || first === undefined ? all : [first, ...all.slice(1 - MOST)]
}
