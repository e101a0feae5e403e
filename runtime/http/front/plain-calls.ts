/**
 * Answers plain capability calls, with the same functions and results as the routes, but with callbacks instead of
 * promises where only the lane is waited for.
 */
import { errorBody } from '../../contract/envelope/envelope.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { Invoke } from '../../invoke/invoke.ts'
import type { Answer, CallEnd } from '../../invoke/ports.ts'
import type { Start } from '../../invoke/start.ts'
import { tellFailure } from '../../observe/failure.ts'
import type { Log } from '../../observe/log.ts'
import { endOf, GENERATION, isLaterPage, SERVED } from '../connectors/connectors.ts'
import { textOf } from '../edge/body.ts'
import type { HttpCaller } from '../edge/caller.ts'
import { bearerIn, isSecret, isServedHost } from '../edge/guards.ts'
import { problemOf } from '../edge/problem.ts'
import { REQUEST_ID, requestIdOf } from '../edge/request-id.ts'
import { envelopeStatus } from '../edge/statuses.ts'
import type { CallHead, HeadRules } from './call-head.ts'

export type CallAnswer = { status: number; headers: Record<string, string>; body: Buffer }

/** Checks and handler of plain calls. */
export type FrontCalls = HeadRules & {
  /** Answers a call. `done` is called once; never throws. `bytes` is null if the body was incomplete. */
  answer(
    head: CallHead,
    bytes: Buffer | null,
    caller: HttpCaller,
    done: (answer: CallAnswer) => void,
  ): void
}

export type PlainCallsDeps = {
  connectorsPath: string
  /** Host names allowed in addition to the loopback ones; null: any. */
  allowedHosts: readonly string[] | null
  /** Empty: no token is required. */
  connectorToken: string
  find(id: string): { id: string; version: string } | null
  /** Number of the served generation. */
  generation(): number
  start: Start
  invoke: Invoke
  onCall(call: CallEnd): void
  log: Log
}

/** Creates the handler of plain calls. */
export function createPlainCalls(deps: PlainCallsDeps): FrontCalls {
  const { connectorsPath, connectorToken } = deps
  const isToken = connectorToken === '' ? () => true : isSecret(connectorToken)
  return {
    connectorsPath,
    isHost: isServedHost(deps.allowedHosts),
    isAllowed: (authorization) => connectorToken === '' || isToken(bearerIn(authorization)),
    isConnector: (id) => deps.find(id) !== null,
    answer: (head, bytes, caller, done) => answerCall(deps, head, bytes, caller, done),
  }
}

function answerCall(
  deps: PlainCallsDeps,
  { id, capability, correlation }: CallHead,
  bytes: Buffer | null,
  caller: HttpCaller,
  done: (answer: CallAnswer) => void,
): void {
  const begun = performance.now()
  const version = deps.find(id)
  const connector = version?.id ?? id
  const requestId = requestIdOf((name) => correlation.get(name))
  let isOver = false

  function tell(error: RuntimeError | null, served: string | null): void {
    isOver = true
    deps.onCall({
      connector,
      capability,
      known: version !== null,
      served,
      error,
      requestId,
      seconds: (performance.now() - begun) / 1000,
      cause: { kind: 'interface', id: requestId },
      appId: null,
    })
  }
  function finish(status: number, body: Buffer, served: string | null): void {
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      [REQUEST_ID]: requestId,
    }
    if (served !== null) headers[SERVED] = served
    headers[GENERATION] = String(deps.generation())
    done({ status, headers, body })
  }
  function answer({ body, served }: Answer): void {
    tell(null, served)
    finish(200, body, served)
  }
  function fail(thrown: unknown): void {
    if (isOver) return deps.log.error({ requestId, err: thrown }, 'an answer failed')
    const served = version && !isLaterPage(thrown) ? `${version.id}@${version.version}` : null
    tell(endOf(thrown), served)
    const error = problemOf(thrown, requestId)
    const path = `${deps.connectorsPath}/${id}/${capability}`
    tellFailure(deps.log, error, { requestId, connector, path })
    const body = Buffer.from(JSON.stringify(errorBody(error, connector)))
    finish(envelopeStatus(error.code), body, served)
  }

  try {
    if (bytes === null) throw new RuntimeError('caller_gone', 'the body ended early')
    const invocation = { connectorId: id, capability, text: textOf(bytes), requestId }
    if (deps.start({ ...invocation, signal: caller }, { answer, fail })) return
    deps.invoke({ ...invocation, signal: caller.abortSignal() }).then(answer, fail)
  } catch (thrown) {
    fail(thrown)
  }
}
