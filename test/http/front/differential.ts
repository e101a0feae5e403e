/**
 * Sends the same random connections to a server with the front and to one without it, and compares every byte that
 * comes back: `node test/http/front/differential.ts --cases 1000000`.
 */

import { parseArgs } from 'node:util'
import { isMainThread } from 'node:worker_threads'
import { caseOf } from './cases.ts'
import { exchange, open, type Way } from './two-ways.ts'

/** How one way understood a connection. */
type Understood = { requests: string[]; answer: string }

export type Difference = { seed: number; sent: string; front: Understood; plain: Understood }

/** Pairs of servers that run in parallel; each has one connection. */
const AT_ONCE = 16

/** The cases from `seed` on whose answers differ; stops after ten. */
export async function differences(
  cases: number,
  seed: number,
  report: (done: number) => void = () => {},
): Promise<{ found: Difference[]; usual: number }> {
  const found: Difference[] = []
  let [next, usual] = [seed, 0]
  const work = async () => {
    const [front, plain] = await Promise.all([open('front'), open('plain')])
    while (next < seed + cases && found.length < 10) {
      const ownSeed = next++
      const one = await compare(ownSeed, front, plain)
      if (!agrees(one)) found.push(one)
      usual += front.takeUsual()
      if ((next - seed) % 10_000 === 0) report(next - seed)
    }
    front.stop()
    plain.stop()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { found, usual }
}

/** The answer of node:http to bytes that are not a request. */
const REFUSED = /HTTP\/1\.1 400 Bad Request\r\n\nconnection: close\r\n$/

/**
 * Whether both received the same requests and gave the same answers. Bytes that are not a request cancel
 * the answers that node:http has not sent yet, and their number depends on timing: in that case, the answer
 * of one way must be a prefix of the other.
 */
function agrees({ front, plain }: Difference): boolean {
  if (front.requests.join() !== plain.requests.join()) return false
  if (front.answer === plain.answer) return true
  if (!REFUSED.test(front.answer) && !REFUSED.test(plain.answer)) return false
  const [a, b] = [front.answer.replace(REFUSED, ''), plain.answer.replace(REFUSED, '')]
  return a.startsWith(b) || b.startsWith(a)
}

async function compare(seed: number, front: Way, plain: Way): Promise<Difference> {
  const { chunks } = caseOf(seed)
  const sent = Buffer.concat(chunks).toString('latin1').slice(0, 1200)
  const ask = async (way: Way, quietTurns: number): Promise<Understood> => {
    const answer = await exchange(way.port, chunks, { quietTurns })
    return { requests: way.takeRequests(), answer }
  }
  const askBoth = async (quietTurns: number) => {
    const [a, b] = await Promise.all([ask(front, quietTurns), ask(plain, quietTurns)])
    return { seed, sent, front: a, plain: b }
  }
  let both = await askBoth(40)
  // A connection that ended before its answer arrived proves nothing: it is repeated with more time.
  for (const quietTurns of [400, 4000]) if (!agrees(both)) both = await askBoth(quietTurns)
  return both
}

if (isMainThread && process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: {
      cases: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
    },
  })
  const [cases, seed] = [Number(values.cases), Number(values.seed)]
  const begun = Date.now()
  const { found, usual } = await differences(cases, seed, (done) =>
    console.log(`${done} of ${cases}, ${Math.round((Date.now() - begun) / 1000)} s`),
  )
  for (const one of found) console.log(one)
  console.log(
    `${found.length} of ${cases} cases differ; ${usual} requests were answered before node:http`,
  )
  process.exit(found.length === 0 ? 0 : 1)
}
