/**
 * Replays a recording. Its answers replace the network, and the requests, made with invented secrets, are
 * recorded.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Case } from '../../contract/connector/cases.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { OutgoingRequest } from '../../egress/exchange/exchange.ts'
import type { HeaderList } from '../../egress/exchange/headers.ts'
import { type AnswerBody, playCase, type Stage } from '../run-case.ts'

/** Recorded exchange, without secrets. */
export type KeptExchange = {
  method: string
  url: string
  reply: { status: number; headers: HeaderList; text: string }
}

/** Request that the connector made during the replay. */
export type AskedAgain = { kept: KeptExchange; request: string; headers: HeaderList; body: string }

export type PlayedAgain = { calls: { asked: AskedAgain[]; body: AnswerBody }[] }

/** Thrown if a recording cannot become a case. The message gives the reason and advice. */
export class NotRecordable extends Error {}

/**
 * Replays a case with the recorded exchanges as its network.
 * @throws NotRecordable if the requests differ from the recorded ones
 */
export async function playAgain(
  one: Case,
  pages: readonly (readonly KeptExchange[])[],
  stage: Stage,
): Promise<PlayedAgain> {
  const calls: PlayedAgain['calls'] = []
  let asked: AskedAgain[] = []
  let strange: string | null = null
  let left: KeptExchange[] = []
  const systemOf = (index: number) => {
    left = [...(pages[index] ?? [])]
    asked = []
    return async (
      url: URL,
      request: OutgoingRequest,
      { onSend }: { onSend(bytes: number): void },
    ) => {
      const at = left.findIndex((kept) => isSame(kept, request.method, url))
      const line = `${request.method} ${url.pathname}${url.search}`
      if (at === -1) {
        strange ??= line
        throw new RuntimeError('upstream_rejected', `nothing was recorded for ${line}`)
      }
      const [kept] = left.splice(at, 1)
      if (kept === undefined) throw new Error('an exchange that was found is gone')
      const { status, headers, text } = kept.reply
      const body = Buffer.from(request.body ?? []).toString('utf8')
      asked.push({ kept, request: line, headers: request.headers, body })
      onSend(request.body?.byteLength ?? 0)
      return { status, headers, read: async () => Buffer.from(text), discard: () => {} }
    }
  }
  for await (const body of playCase(one, stage, systemOf)) {
    if (strange !== null)
      throw new NotRecordable(
        `the replay requests ${strange}, which was not recorded: the request changes each time, perhaps with the clock; write this case by hand`,
      )
    if (left[0] !== undefined)
      throw new NotRecordable(
        `the replay does not request ${left[0].method} ${left[0].url}; write this case by hand`,
      )
    calls.push({ asked, body })
  }
  if (calls.length < pages.length)
    throw new NotRecordable('the replay has fewer pages; write this case by hand')
  return { calls }
}

function isSame(kept: KeptExchange, method: string, url: URL): boolean {
  const wanted = URL.parse(kept.url)
  return (
    wanted !== null &&
    kept.method.toUpperCase() === method &&
    wanted.origin === url.origin &&
    wanted.pathname === url.pathname &&
    isDeepStrictEqual([...wanted.searchParams].sort(), [...url.searchParams].sort())
  )
}
