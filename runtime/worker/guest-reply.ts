/** Encodes the answer to a guest's request for the isolate. */
import { isUtf8 } from 'node:buffer'
import type { Message } from '../protocol/frames.ts'

/**
 * Returns the reply to a request as texts for the guest. UTF-8 text is much cheaper to pass in than base64.
 */
export function textOf({ head: { reply }, body }: Message<'fetched'>): {
  headJson: string
  text: string
} {
  const encoding = isUtf8(body) ? 'utf8' : 'base64'
  const head =
    'error' in reply ? { ok: false, error: reply.error } : { ok: true, ...reply, encoding }
  return { headJson: JSON.stringify(head), text: body.toString(encoding) }
}
