/** Carries out declared capabilities in the host itself. No sandbox is involved. */
import { CAPABILITIES } from '../contract/capabilities/capabilities.ts'
import { type OAuthCapability, secretParameters } from '../contract/connector/oauth.ts'
import { secretsOf } from '../contract/connector/secrets.ts'
import { type Call, successBody } from '../contract/envelope/envelope.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import { createRedact } from '../redact/redact.ts'
import { withoutEchoes } from './echoes.ts'
import type { Answer, Invocation, InvokeDeps, ServedVersion } from './ports.ts'
import { redactError } from './redact-error.ts'

const NOTHING: Buffer = Buffer.alloc(0)

/**
 * Carries out a declared capability.
 *
 * @throws RuntimeError without the call's secrets, which an authorization server may echo
 */
export async function perform(
  {
    performOAuth,
    performing,
    ceilings,
  }: Pick<InvokeDeps, 'performOAuth' | 'performing' | 'ceilings'>,
  { requestId, signal: caller }: Invocation,
  version: ServedVersion,
  capability: OAuthCapability,
  { request, settings, includeRawData, ...credentials }: Call,
): Promise<Answer> {
  const schemas = { settings: version.settings, request: CAPABILITIES[capability].input }
  const redact = createRedact(
    () => secretsOf({ request, settings, ...credentials }, schemas),
    () => secretParameters(request),
  )
  const deadlineMs = Math.min(version.manifest.limits.deadline_ms, ceilings.maxDeadlineMs)
  const endMs = Date.now() + deadlineMs
  const { signal, cut, end } = limitedSignal(caller, deadlineMs)
  // Not for a refresh: its token has been spent, and the new one must not be lost.
  const ended =
    capability === 'refresh_access_token'
      ? undefined
      : performing?.begin({ version, capability, cut })
  try {
    const call = { version, capability, request, settings, requestId, signal, endMs, redact }
    const { response, raw } = await performOAuth(call)
    const rawBytes =
      includeRawData && raw ? Buffer.from(JSON.stringify(withoutEchoes(raw, redact))) : NOTHING
    return {
      body: successBody(Buffer.from(JSON.stringify(response)), rawBytes, null),
      served: `${version.id}@${version.version}`,
    }
  } catch (error) {
    // Without the cause, which is logged and contains the parameters.
    if (error instanceof RuntimeError)
      throw new RuntimeError(error.code, redact(error.message), error.details)
    throw redactError(error, redact)
  } finally {
    ended?.()
    end()
  }
}

/** Returns a signal that aborts when the caller hangs up or the deadline passes, with the matching error. */
function limitedSignal(caller: AbortSignal, deadlineMs: number) {
  const over = new AbortController()
  const hangUp = () => over.abort(new RuntimeError('caller_gone', 'the caller hung up'))
  const late = () =>
    over.abort(new RuntimeError('deadline_passed', `no answer within ${deadlineMs} ms`))
  const timer = setTimeout(late, deadlineMs)
  caller.addEventListener('abort', hangUp, { once: true })
  if (caller.aborted) hangUp()
  return {
    signal: over.signal,
    cut: (error: unknown) => over.abort(error),
    end() {
      clearTimeout(timer)
      caller.removeEventListener('abort', hangUp)
    },
  }
}
