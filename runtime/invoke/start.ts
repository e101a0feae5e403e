/**
 * The short way of a call: one that waits for nothing but its sandbox is carried out without a promise. Judges and
 * answers by the functions of the long way (invoke.ts), which takes whatever is not such a call.
 */
import { judgeCall, parseBody } from '../contract/envelope.ts'
import { RuntimeError } from '../contract/errors.ts'
import type { CallerSignal, Done, LaneCall, LaneReply } from '../contract/lane-call.ts'
import type { LoadedConnector } from '../contract/loaded.ts'
import { hostPerforms } from '../contract/oauth.ts'
import { createMarks } from '../contract/placeholder.ts'
import { checkDeclaredTypes } from './declared-types.ts'
import { answerOf, failureOf, isPlain, withAsked, withLimit } from './from-lane.ts'
import { hideSecrets } from './hide-secrets.ts'
import { boundsOf, isolateKeyOf } from './isolate-key.ts'
import { createKnownCalls, type Sent } from './known-call.ts'
import type { Page } from './page-token.ts'
import type { Answer, Invocation, InvokeDeps, ServedVersion } from './ports.ts'
import { withRedactedCause } from './redact-error.ts'
import { BEGUN } from './referee.ts'
import { type Route, route } from './route.ts'
import { type ReadyCall, toLane } from './to-lane.ts'
import type { Turns } from './turns.ts'

/** One of them is called, once; maybe before `Start` returns. */
export type Ends = { answer(answer: Answer): void; fail(error: unknown): void }

export type ShortInvocation = Omit<Invocation, 'signal' | 'limits'> & { signal: CallerSignal }

/**
 * Carries out a call, or answers false: then nothing has been done, and the call is to go the long way.
 *
 * @throws RuntimeError where the call is refused before anything of it runs
 */
export type Start = (invocation: ShortInvocation, ends: Ends) => boolean

export type StartDeps = InvokeDeps & {
  /** The same that the long way counts by. */
  turns: Turns
  /** As `run`, without promises. */
  start(lane: string, call: LaneCall, done: Done<LaneReply>): void
}

/** Makes the short way. */
export function createStart(deps: StartDeps): Start {
  const { turns } = deps
  const marks = createMarks()
  const known = createKnownCalls()
  const loaded = new WeakMap<ServedVersion, LoadedConnector>()

  /** The code of a version that was loaded before; its first calls go the long way. */
  function loadedOf(version: ServedVersion): LoadedConnector | null {
    const known = loaded.get(version)
    if (known) return known
    const keep = (connector: LoadedConnector) => void loaded.set(version, connector)
    // The long way tells why it cannot be loaded.
    version.load().then(keep, () => {})
    return null
  }

  return (invocation, ends) => {
    const { version, capability, isEnding } = route(deps, invocation)
    if (isEnding || hostPerforms(version.manifest, capability)) return false
    const connector = loadedOf(version)
    if (connector === null) return false
    const { call, tenant } = judged(invocation.text, { version, capability })
    if (call.page.token !== null) return false
    const { deadlineMs, concurrency } = boundsOf(version, deps)
    const leave = turns.tryTake(version.key, tenant, concurrency)
    if (leave === null) return false
    try {
      const { request, settings } = call
      const hidden = hideSecrets(call, { version, capability, tenant, marks })
      const scope = { connector: version.key, capability, request, settings }
      const page: Page = { ...FIRST, size: call.page.size, digest: version.digest }
      const { requestId, signal } = invocation
      const ready = { requestId, version, capability, call, page, scope, ...hidden }
      const { laneCall, end } = toLane(deps, ready, { connector, deadlineMs, signal })
      deps.start(version.lane, laneCall, (ended) => {
        leave()
        const asked = { untilMs: end() }
        settle(ready, ended, {
          answer: ends.answer,
          fail(error) {
            const told = withRedactedCause(withLimit(error, deadlineMs), ready.redact)
            ends.fail(withAsked(told, asked.untilMs))
          },
        })
      })
    } catch (error) {
      leave()
      throw error
    }
    return true
  }

  /** A call and whose it is; of a tenant whose credentials and settings were judged before, its request alone is. */
  function judged(text: string, { version, capability }: Omit<Route, 'isEnding'>): Sent {
    const body = parseBody(text)
    const sent = known.sent(body, version, capability)
    if (sent !== null && known.isJudged(sent, version)) {
      checkDeclaredTypes(version.manifest, capability, sent.call.request)
      return sent
    }
    const call = judgeCall(body, text.length, {
      plain: isPlain(capability),
      request: version.request(capability) as never,
      settings: version.settings,
      manifest: version.manifest,
    })
    checkDeclaredTypes(version.manifest, capability, call.request)
    const tenant = isolateKeyOf(call)
    if (sent !== null) known.judged(sent, version, tenant)
    return { call, tenant }
  }

  function settle(ready: ReadyCall, ended: LaneReply | RuntimeError, { answer, fail }: Ends): void {
    if (ended instanceof RuntimeError) return fail(ended)
    if (!ended.reply.ok) return void failureOf(deps, ready, ended).then(fail, fail)
    let answered: Answer
    try {
      answered = answerOf(deps, ready, ended.reply, ended.body)
    } catch (error) {
      return fail(error)
    }
    answer(answered)
  }
}

const FIRST = { cursorJson: 'null', course: BEGUN } as const
