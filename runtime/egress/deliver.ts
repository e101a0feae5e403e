/**
 * Requests to URLs that the operator chose: inline webhooks and providers of sign-in. They pass the same
 * checks as requests of connectors (addresses, pinned names, proxy, budgets), under the ids `webhooks` and
 * `sign-in`. They are not judged by a manifest or paced, and redirects are not followed.
 */

import { WEBHOOKS_ID } from '../contract/connector/manifest.ts'
import { isRefusedName } from '../contract/connector/refused-headers.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import { INPUTS } from '../contract/limits/inputs.ts'
import { judgeProxied } from './dial/proxy.ts'
import type { HopDeps } from './hop/hop.ts'
import type { Budgets } from './limits/budgets.ts'
import { isGranted, targetOf } from './limits/grants.ts'
import { parseUrl } from './rules/policy.ts'

/** One POST or GET request. */
type Delivery = {
  method?: 'GET' | 'POST'
  url: string
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>
  body: string
  /** Ends the request. */
  signal: AbortSignal
}

/** Outcome of a delivery. `problem` names host and port, never the path or a header's value. */
type DeliveryReply =
  | { ok: true; status: number; headers: [string, string][]; body: Buffer }
  | { ok: false; problem: string }

export type EgressDeliver = {
  /** Returns the reason why a URL, or a header of these names, can never be sent, or null. */
  refuse(url: string, headerNames: readonly string[]): string | null
  /** Sends once, without retries. */
  post(delivery: Delivery): Promise<DeliveryReply>
}

/** Maximum size of an answer, in bytes. */
const MAX_REPLY_BYTES = INPUTS.webhook_reply.maxBytes

/**
 * Creates the deliverer of one id.
 *
 * @param id Id for grants of private addresses, and for budgets.
 */
export function createDeliver(
  deps: HopDeps,
  budgets: Budgets,
  id: string = WEBHOOKS_ID,
): EgressDeliver {
  return {
    refuse: (url, names) =>
      inWords(() => {
        judged(url, deps, id)
        for (const name of names)
          if (isRefusedName(name))
            throw new RuntimeError('egress_header', `The header ${name} cannot be set`)
      }),
    async post(delivery) {
      try {
        return { ok: true, ...(await send(delivery, deps, budgets, id)) }
      } catch (error) {
        // Another system's failure is a result of this function. A bug in Keyway is not.
        if (!(error instanceof RuntimeError)) throw error
        return { ok: false, problem: error.message }
      }
    },
  }
}

/** Returns the message of the error that a judgement throws, or null if it throws none. */
function inWords(judge: () => void): string | null {
  try {
    judge()
    return null
  } catch (error) {
    // The result of the judgement.
    if (error instanceof RuntimeError) return error.message
    throw error
  }
}

/**
 * Returns a URL that may be requested. Names are looked up when the request is sent.
 *
 * @throws egress_url, egress_private
 */
function judged(text: string, { privateGrants }: HopDeps, id: string): URL {
  const url = parseUrl(text)
  if (url.protocol !== 'https:' && !isGranted(privateGrants, id, url))
    throw new RuntimeError(
      'egress_url',
      `http is not sent to ${targetOf(url)}: write an https address. If it is a host of your own network, the operator grants it: KEYWAY_PRIVATE_EGRESS=${id}=${targetOf(url)}`,
    )
  judgeProxied(privateGrants, id, url)
  return url
}

async function send(
  { method = 'POST', url: text, headers, body, signal }: Delivery,
  deps: HopDeps,
  budgets: Budgets,
  id: string,
): Promise<{ status: number; headers: [string, string][]; body: Buffer }> {
  const url = judged(text, deps, id)
  const proxy = deps.chooseProxy(url)
  const held = budgets(id)
  const slot = held.holdSlot()
  const reply = held.holdReply()
  let lastDecoding: Promise<unknown> = Promise.resolve()
  try {
    const request = {
      url: url.href,
      method,
      headers: Object.entries(headers),
      body: method === 'GET' ? null : Buffer.from(body),
    }
    const head = await deps.exchange(url, request, {
      dispatcher: deps.dispatchers.get(id, proxy),
      proxied: proxy !== null,
      limits: { ...deps.limits, maxReplyBytes: MAX_REPLY_BYTES },
      userAgent: deps.userAgent,
      signal,
      onSend: () => {},
      onBytes: (bytes) => reply.add(bytes),
      onDecoded: (bytes) => reply.add(bytes),
      read: held.read,
      inTurn(work) {
        const turn = lastDecoding.then(work)
        lastDecoding = turn.catch(() => {})
        return turn
      },
    })
    const replied = head.headers.map(([name, value]): [string, string] => [name, value])
    return { status: head.status, headers: replied, body: await head.read() }
  } finally {
    reply.release()
    slot.release()
  }
}
