/** Calls outside the lanes: those that the host carries out itself, and those that wait for a slot. */
import type { CapabilityName } from '../contract/capabilities/capabilities.ts'
import type { BegunVersion, RequireServed } from '../protocol/lane-call.ts'

type Performed = {
  version: BegunVersion
  capability: CapabilityName
  cut(error: unknown): void
}

export type Performing = {
  /** Registers a call. Returns the function to call when it has ended. */
  begin(call: Performed): () => void
  /** Ends the calls for which `requireServed` throws, with the thrown error. */
  cutOff(requireServed: RequireServed): void
}

/** Creates an empty list of such calls. */
export function createPerforming(): Performing {
  const calls = new Set<Performed>()
  return {
    begin(call) {
      calls.add(call)
      return () => void calls.delete(call)
    },
    cutOff(requireServed) {
      for (const { version, capability, cut } of calls) {
        try {
          requireServed(version, capability)
        } catch (error) {
          cut(error)
        }
      }
    },
  }
}
