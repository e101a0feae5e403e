/** Callers that list accounts page by page at a steady rate, and check every answer. */
import { send } from '../e2e/client.ts'

export type Tally = {
  calls: number
  sequences: number
  /** Descriptions of faults. */
  wrong: string[]
  /** Versions that answered. */
  versions: Set<string>
}

const IDS = Array.from({ length: 23 }, (_, index) => `account-${index}`).join(' ')
const MAX_TOLD = 50

/**
 * Starts a page sequence at each interval until it is stopped; `stop` resolves when all of them have ended.
 */
export function listSteadily(
  url: string,
  id: string,
  { everyMs, pauseMs }: { everyMs: number; pauseMs: number },
): { tally: Tally; stop(): Promise<void> } {
  const tally: Tally = { calls: 0, sequences: 0, wrong: [], versions: new Set() }
  const open = new Set<Promise<void>>()
  const timer = setInterval(() => {
    const sequence = list(url, id, pauseMs, tally).catch((error: Error) => {
      if (tally.wrong.length < MAX_TOLD) tally.wrong.push(error.message)
    })
    open.add(sequence)
    void sequence.finally(() => open.delete(sequence))
  }, everyMs)
  return {
    tally,
    async stop() {
      clearInterval(timer)
      await Promise.all(open)
    },
  }
}

async function list(url: string, id: string, pauseMs: number, tally: Tally): Promise<void> {
  const ids: string[] = []
  let page: object = { size: 5 }
  let version: string | null = null
  for (;;) {
    const { status, headers, text } = await send(`${url}/connectors/${id}/list_accounts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        request: {},
        auth: { token: { token: 'a-tenants-token' } },
        settings: {},
        page,
      }),
    })
    tally.calls += 1
    const body = JSON.parse(text)
    const served = String(headers['x-keyway-connector'])
    if (status !== 200 || body.is_error)
      throw new Error(
        `page ${ids.length / 5 + 1} of a sequence of ${version ?? 'none'} by ${served}, generation ${headers['x-keyway-generation']}: ${status} ${text.slice(0, 300)}`,
      )
    if (version !== null && served !== version)
      throw new Error(`a sequence of pages that ${version} began continued with ${served}`)
    version = served
    for (const one of body.response) {
      ids.push(one.integration_specific_id)
      if (`${id}@${one.given_name}` !== served)
        throw new Error(`${served} returned an account of ${one.given_name}`)
    }
    const token = body.page?.token
    if (!token) break
    page = { token }
    // Callers pause between pages, so that sequences span upgrades.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * pauseMs))
  }
  tally.sequences += 1
  tally.versions.add(version)
  if (ids.join(' ') !== IDS)
    throw new Error(`a sequence of pages of ${version} returned ${ids.join(' ')}`)
}
