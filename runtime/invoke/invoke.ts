/**
 * One capability call, from the caller's text to the bytes of the answer. Knows which version serves and how
 * paging works. HTTP, processes and sockets are passed in.
 */
import { type CapabilityName, hasNoCredentials } from '../contract/capabilities/capabilities.ts'
import { hostPerforms } from '../contract/connector/oauth.ts'
import { createMarks } from '../contract/connector/placeholder.ts'
import { type Call, parseCall } from '../contract/envelope/envelope.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import { createConcurrencyLimit } from './concurrency.ts'
import { checkDeclaredTypes } from './declared-types.ts'
import { answerOf, failureOf, withAsked, withLimit } from './from-lane.ts'
import { hideSecrets } from './hide-secrets.ts'
import { boundsOf, isolateKeyOf, type TenantBounds } from './isolate-key.ts'
import type { PageScope, TokenPage } from './page-token.ts'
import { perform } from './perform.ts'
import type { Answer, Invocation, InvokeDeps, ServedVersion } from './ports.ts'
import { withRedactedCause } from './redact-error.ts'
import { BEGUN } from './referee.ts'
import { route, unknownConnector } from './route.ts'
import { toLane } from './to-lane.ts'

export type Invoke = (invocation: Invocation) => Promise<Answer>

/** When the upstream systems of a call allow the next request, in milliseconds since the epoch. */
type Asked = { untilMs: number }

/**
 * Creates the function that carries out calls.
 *
 * It throws RuntimeError for every failure. `details.page` repeats the caller's page.
 */
export function createInvoke(deps: InvokeDeps): Invoke {
  const { turns = createConcurrencyLimit() } = deps
  const marks = createMarks()

  return async (invocation) => {
    const { version, capability, request, isEnding } = route(deps, invocation)
    const call = parseCall(invocation.text, {
      plain: hasNoCredentials(capability),
      request,
      settings: version.settings,
      manifest: version.manifest,
    })
    checkDeclaredTypes(version.manifest, capability, call.request)
    const { page } = call
    if (isEnding && page.token === null) throw unknownConnector(invocation.connectorId)
    const asked: Asked = { untilMs: 0 }
    try {
      return hostPerforms(version.manifest, capability)
        ? await perform(deps, invocation, version, capability, call)
        : await carryOut(invocation, version, capability, call, asked)
    } catch (error) {
      // The envelope repeats the page, so that the caller can resume there.
      if (error instanceof RuntimeError && page.token !== null) error.details.page = page
      throw withAsked(error, asked.untilMs)
    }
  }

  async function carryOut(
    { requestId, signal, limits, columns }: Invocation,
    routed: ServedVersion,
    capability: CapabilityName,
    call: Call,
    asked: Asked,
  ): Promise<Answer> {
    const scope = {
      connector: routed.key,
      capability,
      request: call.request,
      settings: call.settings,
    }
    const { version, page } = await openPage(deps, routed, call, scope)
    // Revoked since the sequence started. The version must not run it any more.
    if (!version.request(capability))
      throw new RuntimeError('capability_missing', `${version.id} does not offer ${capability} now`)
    const bounds = boundsOf(version, deps)
    const { deadlineMs } = bounds
    const isolateKey = isolateKeyOf(call)
    const { secrets, redact } = hideSecrets(call, {
      version,
      capability,
      tenant: isolateKey,
      marks,
    })
    const ready = { requestId, version, capability, call, page, scope, secrets, redact }
    const startedMs = Date.now()
    const leave =
      turns.tryTake(version.key, isolateKey, bounds) ??
      (await waitForTurn(version, capability, isolateKey, bounds, signal))
    try {
      const leftMs = Math.max(1, deadlineMs - (Date.now() - startedMs))
      const connector = await version.load()
      // The call may have waited for its slot for a long time.
      deps.requireServed?.(version, capability)
      const { laneCall, end, waitsFor } = toLane(deps, ready, {
        connector,
        deadlineMs: leftMs,
        signal,
        limits,
        columns,
      })
      const reply = await deps
        .run(version.lane, laneCall)
        .catch((error) => {
          throw withLimit(error, deadlineMs, waitsFor)
        })
        .finally(() => {
          asked.untilMs = end()
        })
      if (!reply.reply.ok) throw await failureOf(deps, ready, reply)
      return answerOf(deps, ready, reply.reply, reply)
    } catch (error) {
      throw withRedactedCause(error, redact)
    } finally {
      leave()
    }
  }

  /** Waits for a slot. Signals are created only for calls that wait. */
  async function waitForTurn(
    version: ServedVersion,
    capability: CapabilityName,
    tenant: string,
    bounds: TenantBounds,
    caller: AbortSignal,
  ): Promise<() => void> {
    const taken = new AbortController()
    const late = AbortSignal.timeout(bounds.deadlineMs)
    const signal = AbortSignal.any([caller, late, taken.signal])
    const cut = (error: unknown) => taken.abort(error)
    const ended = deps.performing?.begin({ version, capability, cut })
    try {
      return await turns.take(version.key, tenant, bounds, signal)
    } catch (error) {
      throw error instanceof RuntimeError ? error : turnError(caller, bounds.deadlineMs)
    } finally {
      ended?.()
    }
  }
}

/**
 * Returns the page to run and its version. A sequence stays on the version that started it, even if another
 * version has taken over.
 */
async function openPage(
  { pageTokens, byDigest }: InvokeDeps,
  routed: ServedVersion,
  { page }: Call,
  scope: PageScope,
): Promise<{ version: ServedVersion; page: TokenPage }> {
  if (page.token === null) {
    return {
      version: routed,
      page: { cursorJson: 'null', size: page.size, digest: routed.digest, course: BEGUN },
    }
  }
  const opened = pageTokens.open(page.token, scope)
  if (page.size !== null && page.size !== opened.size) {
    throw new RuntimeError(
      'page_token_invalid',
      `page.size: found ${page.size}, the sequence began with ${opened.size ?? 'none'}; keep it the same`,
    )
  }
  const version =
    opened.digest === routed.digest ? routed : await byDigest(routed.id, opened.digest)
  if (!version) {
    throw new RuntimeError(
      'page_token_invalid',
      'the version of the connector that began this sequence is gone; start again without a token',
    )
  }
  return { version, page: opened }
}

function turnError(caller: AbortSignal, deadlineMs: number): RuntimeError {
  return caller.aborted
    ? new RuntimeError('caller_gone', 'the caller hung up')
    : new RuntimeError('deadline_passed', `no turn within ${deadlineMs} ms`)
}
