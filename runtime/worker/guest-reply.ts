/** The answer to a request of a guest, as it is brought into the isolate. */
import { isUtf8 } from 'node:buffer'
import type { Message } from '../protocol/frames.ts'

/** The reply to a request, as texts for the guest. UTF-8 text costs much less to hand over than base64. */
export function textOf({ head: { reply }, body }: Message<'fetched'>): {
  headJson: string
  text: string
} {
  const encoding = isUtf8(body) ? 'utf8' : 'base64'
  const told =
    'error' in reply ? { ok: false, error: reply.error } : { ok: true, ...reply, encoding }
  return { headJson: JSON.stringify(told), text: body.toString(encoding) }
}
