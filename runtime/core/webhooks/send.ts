/** Sends a message of a webhook once and interprets the reply. */

import { isRecord } from '../../contract/schema/record.ts'
import type { Db } from '../../database/database.ts'
import type { WebhookRow } from '../../database/schema/app_store.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { keptText } from '../kernel/kept-text.ts'
import { parseResponse, type WebhookAnswer } from './parse-response.ts'
import { openSecrets, type WebhookSecrets } from './secrets.ts'
import { signatureHeaders } from './sign.ts'

/** Minimum length of a header value that is hidden in a reply. Shorter values would match everywhere. */
const MIN_HIDDEN = 8

/** Maximum length of an error message about a reply, in characters. It may contain names from the reply. */
const MAX_PROBLEM = 1000

type Sent = WebhookAnswer & { status: number | null }

/**
 * Sends to a webhook, whether it is enabled or not. A failure is a result too.
 *
 * @param messageId The same if the same message is sent again.
 * @throws the reason of `parts.signal` once it is aborted. It is then unknown whether the message arrived.
 */
export async function sendWebhook(
  db: Db,
  { vault, deliver, now, pace, signal }: RequestContext,
  row: WebhookRow,
  message: { messageId: string; payload: Record<string, unknown> },
): Promise<Sent> {
  const failed = (problem: string) => ({ ok: false as const, problem, status: null })
  const secrets = openSecrets(vault, row)
  if (row.url === null || row.sealed === null)
    return failed(`it has no address yet: keyway webhooks update ${row.id} --to <address>`)
  if (secrets === null)
    return failed(
      `its secrets cannot be opened with KEYWAY_SECRET: put the old secret back, or create the webhook again (keyway webhooks add)`,
    )
  const body = JSON.stringify(message.payload)
  const reply = await deliver.post({
    url: row.url,
    headers: {
      ...secrets.headers,
      'content-type': 'application/json',
      accept: 'application/json',
      ...signatureHeaders(secrets, { id: message.messageId, body, now: await now(db) }),
    },
    body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(pace.answerMs)]),
  })
  if (signal.aborted) throw signal.reason
  const hide = hiding(secrets)
  if (!reply.ok) return failed(hide(reply.problem))
  const understood = parseResponse(row.hookType, reply)
  const { status } = reply
  if (!understood.ok)
    return { ok: false, problem: keptText(hide(understood.problem), MAX_PROBLEM), status }
  return { ok: true, response: hiddenIn(understood.response, hide), status }
}

/** Returns a function that removes the header values from a text: the receiver may echo them. */
function hiding({ headers }: WebhookSecrets): (text: string) => string {
  const held = Object.values(headers)
    .flatMap((value) => [value, value.replace(/^\S+ /, '')])
    .filter((value) => value.length >= MIN_HIDDEN)
  return (text) => held.reduce((shown, value) => shown.replaceAll(value, '[secret]'), text)
}

/**
 * Applies `hide` to all strings in a value, whose depth was checked before. The cast: strings stay strings.
 */
const hiddenIn = <T>(value: T, hide: (text: string) => string): T => hidden(value, hide) as T

function hidden(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === 'string') return hide(value)
  if (Array.isArray(value)) return value.map((one) => hidden(one, hide))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [hide(name), hidden(one, hide)]),
  )
}
