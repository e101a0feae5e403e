/**
 * What a guest may ask of the network, judged before it goes to the host: one that asks for too much
 * gets a message, and nobody else notices. The prelude bounds most of it already, but a guest may
 * have got at the prelude's parts.
 */
import * as v from 'valibot'
import { REQUEST_LIMITS } from '../contract/limits/requests.ts'
import type { Heads } from '../protocol/frames.ts'
import { WORKER_HEADS } from '../protocol/worker-heads.ts'

type GuestRequest = { call: number; head: Heads['fetch']; bytes: Buffer | undefined }

/** Why a request does not leave, in the guest's terms. */
type Refusal = { code: 'permission_denied' | 'rate_limit'; message: string }

export type JudgedRequest = GuestRequest | Refusal

/** Largest head of a request, in bytes of JSON. */
const MAX_HEAD_BYTES = 256 * 1024
const MAX_BODY_BYTES = REQUEST_LIMITS.bodyBytes
/** What may wait for the host before requests are refused, log lines dropped, and replies wait their turn, in bytes. */
export const MAX_QUEUED_BYTES = 64 * 1024 * 1024

/** Reads what the guest posted: the request, or why there is none. */
export function readRequest(
  id: number,
  headJson: string,
  body: string,
  queuedBytes: number,
): JudgedRequest {
  if (queuedBytes > MAX_QUEUED_BYTES)
    return refuse('rate_limit', 'too much waits to be sent already; await each answer')
  // The head that leaves is no longer than this one, but for the id.
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
  // Counted before it is decoded: what is refused costs little.
  if (encoding !== null && Buffer.byteLength(body, encoding) > MAX_BODY_BYTES)
    return refuse('permission_denied', `the body of a request may have ${MAX_BODY_BYTES} bytes`)
  return { call, head, bytes: encoding === null ? undefined : Buffer.from(body, encoding) }
}

function refuse(code: Refusal['code'], message: string): Refusal {
  return { code, message }
}
