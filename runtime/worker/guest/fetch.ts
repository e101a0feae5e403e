import { abortError } from './abort.ts'
import { type Body, toBody, toWireBody } from './body.ts'
import { nextId, post, tryPost } from './bridge.ts'
import { fromBase64 } from './bytes.ts'
import type { GuestCall } from './calls.ts'
import { ConnectorError, fetchError } from './connector-error.ts'
import { Headers } from './headers.ts'
import { LIMITS } from './limits.ts'
import { messageBody } from './message.ts'
import { attempt, isObject, own, ownText } from './own.ts'
import {
  jsonText,
  mapDelete,
  mapForEach,
  mapGet,
  mapSet,
  parseJson,
  promiseThen,
  SafeMap,
  SafePromise,
} from './primordials.ts'
import {
  bodyRefused,
  isRequest,
  type RequestInit,
  requestMethod,
  requestRedirect,
} from './request.ts'
import { type Response, upstreamResponse } from './response.ts'
import { isUrl } from './url.ts'

type Signal = {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: string, listener: () => void): void
  removeEventListener(type: string, listener: () => void): void
}
type Outgoing = {
  url: string
  method: string
  headers: Headers
  redirect: string
  body: Body | null
  signal: Signal | null
}
type OpenFetch = {
  call: GuestCall
  resolve: (response: Response) => void
  reject: (reason: unknown) => void
  /** Removes the listener from the author's own signal. */
  release: () => void
}

const open = new SafeMap<number, OpenFetch>()

/** `ctx.fetch` of one call: posts the request and returns a promise that `settleFetch` settles. */
export function fetchFor(call: GuestCall, input: unknown, init: unknown): Promise<Response> {
  const answer = new SafePromise<Response>((resolve, reject) => {
    refuseWhenOver(call)
    // The cast: `outgoing` checks each member, so any value of a plugin is safe.
    send(call, outgoing(input, (init ?? {}) as RequestInit), resolve, reject)
  })
  // A refused fetch that is awaited later must not count as an unhandled rejection.
  void promiseThen(answer, undefined, ignore)
  return answer
}

/**
 * Sends a request of `ctx.ldap` or `ctx.sql`: like a fetch, to the address that stands for directories or
 * databases.
 */
export function requestFor(
  call: GuestCall,
  url: string,
  method: string,
  json: string,
): Promise<Response> {
  const answer = new SafePromise<Response>((resolve, reject) => {
    refuseWhenOver(call)
    const body = { content: json.toWellFormed(), type: null }
    const headers = new Headers()
    send(call, { url, method, headers, redirect: 'error', body, signal: null }, resolve, reject)
  })
  // As in fetchFor.
  void promiseThen(answer, undefined, ignore)
  return answer
}

/** Takes the host's answer to a fetch. Returns false if no open fetch has this id. */
export function settleFetch(id: number, headJson: string, body: string): boolean {
  const entry = mapGet(open, id)
  if (entry === undefined) return false
  close(id, entry)
  try {
    const head = parseJson(headJson)
    if (own(head, 'ok') === true) entry.resolve(received(head, body))
    else entry.reject(failure(entry.call, id, head))
  } catch (thrown) {
    entry.reject(thrown)
  }
  return true
}

/** Rejects every open fetch of a call that the host has aborted. */
export function rejectFetches(call: GuestCall): void {
  if (call.openFetches === 0) return
  mapForEach(open, (entry, id) => {
    if (entry.call === call) cancel(id, entry, abortError('the call was aborted'))
  })
}

/** Drops every open fetch of a call that has ended, without settling it. */
export function dropFetches(call: GuestCall): void {
  if (call.openFetches === 0) return
  mapForEach(open, (entry, id) => {
    if (entry.call !== call) return
    close(id, entry)
    tryPost('fetch_abort', id, '{}', '')
  })
}

/** Makes the error of a failed fetch. The host has no record of a request that the worker refused. */
function failure(call: GuestCall, id: number, head: unknown): ConnectorError {
  const refused = own(head, 'refused')
  if (refused === undefined) return fetchError(call, id, own(head, 'error'))
  return new ConnectorError(ownText(refused, 'code'), ownText(refused, 'message'))
}

function refuseWhenOver(call: GuestCall): void {
  if (call.ended) throw abortError('the call has ended')
  if (call.aborted) throw abortError('the call was aborted')
  if (call.openFetches >= LIMITS.openFetches) {
    const message = `too many open fetches in one call: the limit is ${LIMITS.openFetches}`
    throw new ConnectorError('rate_limit', message)
  }
  call.fetches += 1
  if (call.fetches > LIMITS.fetches)
    throw new ConnectorError('rate_limit', `more than ${LIMITS.fetches} requests in one call`)
}

function refuseWhenLarge(headers: Headers, body: Body | null): void {
  for (const [name, value] of headers) {
    if (value.length <= LIMITS.headerChars) continue
    const message = `the header ${name} is too long: the limit is ${LIMITS.headerChars} characters`
    throw new ConnectorError('permission_denied', message)
  }
  // The length counts bytes, or characters, which are never more than the bytes. The worker counts the bytes.
  if (body === null || body.content.length <= LIMITS.bodyBytes) return
  const message = `the body of a request may have ${LIMITS.bodyBytes} bytes`
  throw new ConnectorError('permission_denied', message)
}

function send(
  call: GuestCall,
  request: Outgoing,
  resolve: OpenFetch['resolve'],
  reject: OpenFetch['reject'],
): void {
  const { signal } = request
  if (signal?.aborted) throw signal.reason
  const id = nextId()
  refuseWhenLarge(request.headers, request.body)
  const { encoding, body } = toWireBody(request.body)
  post('fetch', id, headOf(call, request, encoding), body)
  const onAbort = (): void => {
    if (mapGet(open, id) !== undefined) cancel(id, entry, signal?.reason)
  }
  const release = signal ? () => signal.removeEventListener('abort', onAbort) : ignore
  const entry = { call, resolve, reject, release }
  mapSet(open, id, entry)
  call.openFetches += 1
  if (signal === null) return
  const listen = (): void => signal.addEventListener('abort', onAbort)
  attempt(listen, undefined, [], (thrown) => cancel(id, entry, thrown))
}

function headOf(call: GuestCall, request: Outgoing, encoding: string | null): string {
  const { url, method, headers, redirect } = request
  return jsonText({
    __proto__: null,
    call: call.id,
    url,
    method,
    headers: [...headers],
    redirect,
    encoding,
  })
}

function outgoing(input: unknown, init: RequestInit): Outgoing {
  const from = isObject(input) && isRequest(input) ? input : null
  const method = requestMethod(init.method ?? from?.method)
  const body = init.body === undefined && from ? messageBody(from) : toBody(init.body)
  if (body && (method === 'GET' || method === 'HEAD')) throw bodyRefused(method)
  const headers = new Headers(init.headers ?? from?.headers)
  if (body?.type && !headers.has('content-type')) headers.set('content-type', body.type)
  return {
    url: from ? from.url : isObject(input) && isUrl(input) ? input.href : `${input}`.toWellFormed(),
    method,
    headers,
    redirect: requestRedirect(init.redirect ?? from?.redirect),
    body,
    signal: (init.signal === undefined ? from?.signal : init.signal) ?? null,
  }
}

function received(head: unknown, body: string): Response {
  // The cast: the host makes the head.
  const headers = new Headers(own(head, 'headers') as [string, string][])
  const status = own(head, 'status')
  const content = own(head, 'encoding') === 'base64' ? fromBase64(body) : body
  return upstreamResponse({ content, type: null }, headers, {
    url: ownText(head, 'url'),
    status: typeof status === 'number' ? status : 0,
    redirected: own(head, 'redirected') === true,
  })
}

function cancel(id: number, entry: OpenFetch, reason: unknown): void {
  close(id, entry)
  tryPost('fetch_abort', id, '{}', '')
  entry.reject(reason)
}

function close(id: number, entry: OpenFetch): void {
  mapDelete(open, id)
  entry.call.openFetches -= 1
  // The signal is the author's own. Ignore what its methods throw.
  attempt(entry.release, undefined, [], ignore)
}

function ignore(): void {}
