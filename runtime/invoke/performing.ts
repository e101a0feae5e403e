/** Calls that the host carries out itself: no lane knows of them. */
import type { OAuthCapability } from '../contract/connector/oauth.ts'
import type { DemandServed } from '../protocol/lane-call.ts'

type Performed = {
  version: Parameters<DemandServed>[0]
  capability: OAuthCapability
  cut(error: unknown): void
}

export type Performing = {
  /** The answer is to be called when the call has ended. */
  begin(call: Performed): () => void
  /** Ends the calls for which `demand` throws, with what it throws. */
  cutOff(demand: DemandServed): void
}

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
