/**
 * Fast path of a call that waits only for its sandbox. It runs without promises. It validates and answers
 * with the functions of the general path (invoke.ts), which handles all other calls.
 */

import { hasNoCredentials } from '../contract/capabilities/capabilities.ts'
import { hostPerforms } from '../contract/connector/oauth.ts'
import { createMarks } from '../contract/connector/placeholder.ts'
import { judgeCall, parseBody } from '../contract/envelope/envelope.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import type { CallerSignal, Done, LaneCall, LaneReply } from '../protocol/lane-call.ts'
import type { LoadedConnector } from '../protocol/loaded.ts'
import type { ConcurrencyLimit } from './concurrency.ts'
import { checkDeclaredTypes } from './declared-types.ts'
import { answerOf, failureOf, withAsked, withLimit } from './from-lane.ts'
import { hideSecrets } from './hide-secrets.ts'
import { boundsOf, isolateKeyOf } from './isolate-key.ts'
import { createKnownCalls, type Sent } from './known-call.ts'
import type { TokenPage } from './page-token.ts'
import type { Answer, Invocation, InvokeDeps, ServedVersion } from './ports.ts'
import { withRedactedCause } from './redact-error.ts'
import { BEGUN } from './referee.ts'
import { type Route, route } from './route.ts'
import { type ReadyCall, toLane } from './to-lane.ts'

/** Exactly one of them is called, once, possibly before `Start` returns. */
type Ends = { answer(answer: Answer): void; fail(error: unknown): void }

type FastInvocation = Omit<Invocation, 'signal' | 'limits'> & { signal: CallerSignal }

/**
 * Starts a call. Returns false, without side effects, if the call has to take the general path.
 *
 * @throws RuntimeError if the call is refused before it runs
 */
export type Start = (invocation: FastInvocation, ends: Ends) => boolean

type StartDeps = InvokeDeps & {
  /** Shared with the general path. */
  turns: ConcurrencyLimit
  /** Like `run`, with a callback. */
  start(lane: string, call: LaneCall, done: Done<LaneReply>): void
}

/** Creates the fast path. */
export function createStart(deps: StartDeps): Start {
  const { turns } = deps
  const marks = createMarks()
  const knownCalls = createKnownCalls()
  const loaded = new WeakMap<ServedVersion, LoadedConnector>()

  /**
   * Returns the code of a version if it is loaded. Otherwise starts loading it, and the call takes the
   * general path.
   */
  function loadedOf(version: ServedVersion): LoadedConnector | null {
    const known = loaded.get(version)
    if (known) return known
    const keep = (connector: LoadedConnector) => void loaded.set(version, connector)
    // The general path reports why it cannot be loaded.
    version.load().then(keep, () => {})
    return null
  }

  return (invocation, ends) => {
    const { isEnding, ...routed } = route(deps, invocation)
    const { version, capability } = routed
    if (isEnding || hostPerforms(version.manifest, capability)) return false
    const connector = loadedOf(version)
    if (connector === null) return false
    const { call, tenant } = judge(invocation.text, routed)
    if (call.page.token !== null) return false
    const bounds = boundsOf(version, deps)
    const { deadlineMs } = bounds
    const leave = turns.tryTake(version.key, tenant, bounds)
    if (leave === null) return false
    try {
      const { request, settings } = call
      const hidden = hideSecrets(call, { version, capability, tenant, marks })
      const scope = { connector: version.key, capability, request, settings }
      const page: TokenPage = { ...FIRST, size: call.page.size, digest: version.digest }
      const { requestId, signal } = invocation
      const ready = { requestId, version, capability, call, page, scope, ...hidden }
      const laneDeps = { connector, deadlineMs, signal }
      const { laneCall, end, waitsFor } = toLane(deps, ready, laneDeps)
      deps.start(version.lane, laneCall, (ended) => {
        leave()
        // Ending the call also ends what it waits for.
        const late = withLimit(ended, deadlineMs, waitsFor)
        const asked = { untilMs: end() }
        settle(ready, late instanceof RuntimeError ? late : ended, {
          answer: ends.answer,
          fail(error) {
            const redacted = withRedactedCause(error, ready.redact)
            ends.fail(withAsked(redacted, asked.untilMs))
          },
        })
      })
    } catch (error) {
      leave()
      throw error
    }
    return true
  }

  /** Validates a call. Known credentials and settings are not validated again. */
  function judge(text: string, { version, capability, request }: Omit<Route, 'isEnding'>): Sent {
    const body = parseBody(text)
    const sent = knownCalls.sent(body, version, capability)
    if (sent !== null && knownCalls.isJudged(sent, version)) {
      checkDeclaredTypes(version.manifest, capability, sent.call.request)
      return sent
    }
    const call = judgeCall(body, text.length, {
      plain: hasNoCredentials(capability),
      request,
      settings: version.settings,
      manifest: version.manifest,
    })
    checkDeclaredTypes(version.manifest, capability, call.request)
    const tenant = isolateKeyOf(call)
    if (sent !== null) knownCalls.judged(sent, version, tenant)
    return { call, tenant }
  }

  function settle(ready: ReadyCall, ended: LaneReply | RuntimeError, { answer, fail }: Ends): void {
    if (ended instanceof RuntimeError) return fail(ended)
    if (!ended.reply.ok) return void failureOf(deps, ready, ended).then(fail, fail)
    let answered: Answer
    try {
      answered = answerOf(deps, ready, ended.reply, ended)
    } catch (error) {
      return fail(error)
    }
    answer(answered)
  }
}

const FIRST = { cursorJson: 'null', course: BEGUN } as const
