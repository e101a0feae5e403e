/** Calls outside the lanes: those that the host carries out itself, and those that wait for their turn. */
import type { CapabilityName } from '../contract/capabilities/capabilities.ts'
import type { BegunVersion, DemandServed } from '../protocol/lane-call.ts'

type Performed = {
  version: BegunVersion
  capability: CapabilityName
  cut(error: unknown): void
}

export type Performing = {
  /** @returns what to call when the call has ended */
  begin(call: Performed): () => void
  /** Ends the calls for which `demand` throws, with what it throws. */
  cutOff(demand: DemandServed): void
}

/** Makes an empty list of such calls. */
export function createPerforming(): Performing {
  const calls = new Set<Performed>()
  return {
    begin(call) {
      calls.add(call)
      return () => void calls.delete(call)
    },
    cutOff(demand) {
      for (const { version, capability, cut } of calls) {
        try {
          demand(version, capability)
        } catch (error) {
          cut(error)
        }
      }
    },
  }
}
