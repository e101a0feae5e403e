/**
 * The short way of a capability call: from node:http's request to its answer without Request, Response, routes and
 * promises. It takes the usual call alone (a POST with a length, of a name and a capability that are served, with the
 * right Host and token) and judges it by the same functions; whatever else there is goes on to the application.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { isCapability } from '../contract/capabilities.ts'
import { errorBody } from '../contract/envelope.ts'
import { ERRORS, RuntimeError } from '../contract/errors.ts'
import type { Invoke } from '../invoke/invoke.ts'
import type { Answer, CallEnd } from '../invoke/ports.ts'
import type { Start } from '../invoke/start.ts'
import type { Log } from '../log.ts'
import { MAX_BODY_BYTES, textOf } from './body.ts'
import { createCaller } from './caller.ts'
import { endOf, GENERATION, isLaterPage, SERVED } from './connectors.ts'
import { bearerIn, isSecret, isServedHost, JSON_TYPE } from './guards.ts'
import { problemOf, tellFailure } from './problem.ts'
import { REQUEST_ID, requestIdOf } from './request-id.ts'

type Version = { id: string; version: string }

export type ShortWayDeps = {
  connectorsPath: string
  /** As in `AppDeps`. */
  allowedHosts: readonly string[] | null
  connectorToken: string
  find(id: string): Version | null
  generation(): number
  start: Start
  invoke: Invoke
  onCall(call: CallEnd): void
  log: Log
}

/** The call that a request is for. */
type Wanted = { id: string; capability: CallEnd['capability']; version: Version }

/** Headers of which node:http keeps the first alone, where the application sees all of them. */
const SINGLE = ['host', 'content-type', 'authorization']

/** Whether a header that counts here was sent twice. */
function isDoubled(rawHeaders: readonly string[]): boolean {
  let seen = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const bit = 1 << SINGLE.indexOf((rawHeaders[at] as string).toLowerCase())
    // None of them: a shift by -1 is one by 31.
    if (bit < 0) continue
    if ((seen & bit) !== 0) return true
    seen |= bit
  }
  return false
}

/** Makes what stands before the application. */
export function createShortWay(deps: ShortWayDeps): (next: RequestListener) => RequestListener {
  const { connectorsPath, connectorToken } = deps
  const prefix = `${connectorsPath}/`
  const isOurs = isServedHost(deps.allowedHosts)
  const isToken = connectorToken === '' ? () => true : isSecret(connectorToken)

  /** The usual call, or null for any other request. */
  function wantedBy({ method, url = '', headers, rawHeaders }: IncomingMessage): Wanted | null {
    if (method !== 'POST' || !url.startsWith(prefix)) return null
    const slash = url.indexOf('/', prefix.length)
    if (slash < 0) return null
    const length = Number(headers['content-length'] ?? 0)
    const isUsual =
      !isDoubled(rawHeaders) &&
      length > 0 &&
      length <= MAX_BODY_BYTES &&
      headers.expect === undefined &&
      JSON_TYPE.test(headers['content-type'] ?? '') &&
      isOurs(headers.host ?? '') &&
      (connectorToken === '' || isToken(bearerIn(headers.authorization ?? '')))
    const id = url.slice(prefix.length, slash)
    const capability = url.slice(slash + 1)
    // Neither holds an escape then: names of connectors and capabilities have none.
    const version = isUsual && isCapability(capability) ? deps.find(id) : null
    return version && { id, capability, version }
  }

  function serve(incoming: IncomingMessage, outgoing: ServerResponse, wanted: Wanted): void {
    const { id, capability, version } = wanted
    const { headers } = incoming
    const requestId = requestIdOf((name) => headers[name] as string | undefined)
    const begun = performance.now()
    const caller = createCaller()
    const chunks: Buffer[] = []
    let isRead = false
    let isOver = false

    function tell(error: RuntimeError | null): void {
      isOver = true
      deps.onCall({
        connector: version.id,
        capability,
        known: true,
        error,
        requestId,
        seconds: (performance.now() - begun) / 1000,
        cause: { kind: 'interface', id: requestId },
        appId: null,
      })
    }
    function write(status: number, body: Buffer, served: string | null): void {
      if (outgoing.destroyed) return
      outgoing.writeHead(status, [
        ...['content-type', 'application/json', REQUEST_ID, requestId],
        ...(served === null ? [] : [SERVED, served]),
        ...[GENERATION, String(deps.generation()), 'content-length', String(body.length)],
      ])
      outgoing.end(body)
    }
    const ends = {
      answer({ body, served }: Answer): void {
        tell(null)
        write(200, body, served)
      },
      fail(thrown: unknown): void {
        if (isOver) return deps.log.error({ requestId, err: thrown }, 'an answer failed')
        tell(endOf(thrown))
        const error = problemOf(thrown, requestId)
        tellFailure(deps.log, error, { requestId, connector: id, path: incoming.url })
        const body = Buffer.from(JSON.stringify(errorBody(error, id)))
        const served = isLaterPage(thrown) ? null : `${version.id}@${version.version}`
        write(ERRORS[error.code].status ?? 200, body, served)
      },
    }
    function carryOut(): void {
      const text = textOf(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))
      const invocation = { connectorId: id, capability, text, requestId }
      if (deps.start({ ...invocation, signal: caller }, ends)) return
      deps.invoke({ ...invocation, signal: caller.abortSignal() }).then(ends.answer, ends.fail)
    }

    incoming.on('data', (chunk: Buffer) => void chunks.push(chunk))
    incoming.on('end', () => {
      isRead = true
      try {
        carryOut()
      } catch (thrown) {
        ends.fail(thrown)
      }
    })
    incoming.on('close', () => {
      if (!isRead) ends.fail(new RuntimeError('caller_gone', 'the body ended in the middle'))
    })
    outgoing.on('close', () => {
      if (isRead && !isOver) caller.hangUp()
    })
  }

  return (next) => (incoming, outgoing) => {
    const wanted = wantedBy(incoming)
    if (wanted === null) next(incoming, outgoing)
    else serve(incoming, outgoing, wanted)
  }
}
