/** Sends a message of a webhook, once, and judges the answer. */

import { isRecord } from '../../contract/schema/record.ts'
import type { Db } from '../../database/database.ts'
import type { WebhookRow } from '../../database/schema/app_store.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { keptText } from '../kernel/kept-text.ts'
import { parseResponse, type WebhookAnswer } from './parse-response.ts'
import { openSecrets, type WebhookSecrets } from './secrets.ts'
import { signatureHeaders } from './sign.ts'

/** Shortest value of a header that is taken out of an answer; shorter ones would be found everywhere. */
const MIN_HIDDEN = 8

/** Longest words for what is wrong with an answer, in characters: they may hold names of the answer's. */
const MAX_PROBLEM = 1000

type Sent = WebhookAnswer & { status: number | null }

/**
 * Sends to a webhook, whether it is enabled or not. What goes wrong is an answer.
 *
 * @param messageId The same for the same message sent again.
 * @throws the reason of `parts.signal`, once that is aborted: whether it arrived is then not known.
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
      `its secrets cannot be opened with KEYWAY_SECRET: put the old secret back, or make it again (keyway webhooks add)`,
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

/** Takes what the headers hold out of a text: who answers may echo it. */
function hiding({ headers }: WebhookSecrets): (text: string) => string {
  const held = Object.values(headers)
    .flatMap((value) => [value, value.replace(/^\S+ /, '')])
    .filter((value) => value.length >= MIN_HIDDEN)
  return (text) => held.reduce((shown, value) => shown.replaceAll(value, '[secret]'), text)
}

/** The same for all texts of a value; how deep it is was judged before. The cast: texts stay texts. */
const hiddenIn = <T>(value: T, hide: (text: string) => string): T => hidden(value, hide) as T

function hidden(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === 'string') return hide(value)
  if (Array.isArray(value)) return value.map((one) => hidden(one, hide))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [hide(name), hidden(one, hide)]),
  )
}
