/**
 * Judges the network requests of a guest before they go to the host. A request over a limit is answered with
 * a message, without effect on others. The prelude enforces most limits already, but a guest may have
 * tampered with the prelude's parts.
 */
import * as v from 'valibot'
import { REQUEST_LIMITS } from '../contract/limits/requests.ts'
import type { Heads } from '../protocol/frames.ts'
import { WORKER_HEADS } from '../protocol/worker-heads.ts'

type GuestRequest = { call: number; head: Heads['fetch']; bytes: Buffer | undefined }

/** Reason why a request is not sent, in the guest's terms. */
type Refusal = { code: 'permission_denied' | 'rate_limit'; message: string }

export type JudgedRequest = GuestRequest | Refusal

/** Largest head of a request, in bytes of JSON. */
const MAX_HEAD_BYTES = 256 * 1024
const MAX_BODY_BYTES = REQUEST_LIMITS.bodyBytes
/**
 * Limit of the bytes that wait for the host. Above it, requests are refused, log lines are dropped, and
 * replies wait their turn.
 */
export const MAX_QUEUED_BYTES = 64 * 1024 * 1024

/** Reads a posted request. Returns the request, or the reason for its refusal. */
export function readRequest(
  id: number,
  headJson: string,
  body: string,
  queuedBytes: number,
): JudgedRequest {
  if (queuedBytes > MAX_QUEUED_BYTES)
    return refuse('rate_limit', 'too much waits to be sent already; await each answer')
  // The head that is sent is no longer than this one, except for the id.
  if (headJson.length > MAX_HEAD_BYTES || Buffer.byteLength(headJson) > MAX_HEAD_BYTES)
    return refuse(
      'permission_denied',
      `the address and headers of a request may have ${MAX_HEAD_BYTES} bytes together`,
    )
  const { call, url, method, headers, redirect, encoding } = JSON.parse(headJson)
  const head = { request: id, url, method, headers, redirect, hasBody: encoding !== null }
  if (!v.is(WORKER_HEADS.fetch, head))
    return refuse(
      'permission_denied',
      'the request cannot be sent: its address, method or headers are longer than may be',
    )
  // Count before decoding, so that a refused body costs little.
  if (encoding !== null && Buffer.byteLength(body, encoding) > MAX_BODY_BYTES)
    return refuse('permission_denied', `the body of a request may have ${MAX_BODY_BYTES} bytes`)
  return { call, head, bytes: encoding === null ? undefined : Buffer.from(body, encoding) }
}

function refuse(code: Refusal['code'], message: string): Refusal {
  return { code, message }
}
