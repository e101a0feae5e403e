/** Calls a version before it serves, in the configuration in which it is going to serve. */
import { randomUUID } from 'node:crypto'
import { RuntimeError } from '../contract/errors/errors.ts'
import type { LoadedConnector } from '../protocol/loaded.ts'
import { createCall } from './call.ts'
import { createInvoke } from './invoke.ts'
import type { CallEnd, InvokeDeps, ServedVersion } from './ports.ts'

/** Deadline of each of the two calls, in milliseconds. */
const PATIENCE_MS = 30_000

type SmokeTest = (
  version: ServedVersion,
  probe: Record<string, unknown> | null,
) => Promise<string | null>

/**
 * Creates the function. It loads the version in a sandbox and calls `validate_credentials` if there are
 * credentials to test with. It returns what went wrong, or null.
 */
export function createSmokeTest(
  deps: InvokeDeps,
  describe: (connector: LoadedConnector, deadlineMs: number) => Promise<unknown>,
  onCall: (end: CallEnd) => void,
): SmokeTest {
  return async (version, probe) => {
    try {
      await describe(await version.load(), PATIENCE_MS)
    } catch (error) {
      if (error instanceof RuntimeError) return `its code could not be loaded: ${error.message}`
      throw error
    }
    if (probe === null || !version.request('validate_credentials')) return null
    const invoke = createInvoke({ ...deps, find: () => version, byDigest: () => version })
    const outcome = await createCall(
      invoke,
      onCall,
      () => version,
    )({
      connectorId: version.id,
      capability: 'validate_credentials',
      body: { ...probe, request: {} },
      requestId: `try-${randomUUID()}`,
      cause: { kind: 'trial', id: `${version.id}@${version.version}` },
      appId: null,
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    if (outcome.ok) return null
    const { error_code, message } = outcome.error
    return `validate_credentials with the probe's credentials ended as ${error_code}: ${message}`
  }
}
