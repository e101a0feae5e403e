/**
 * The cost of the blind bridge: the same request to an upstream on loopback by undici alone, through egress
 * without secrets, and with a token, Basic, a secret in a body, alternately and one at a time. The goal is
 * less than 0.3 ms over undici at the median. Then the cost of the bridges to directories and databases over
 * their libraries, with a goal of less than 0.5 ms; this part of a full run is written into RESULTS.md.
 *
 *     npm run bench:egress
 *     ROUNDS=300 npm run bench:egress
 */
import { Worker } from 'node:worker_threads'
import { Agent } from 'undici'
import type { CallSecrets } from '../../runtime/contract/connector/secrets.ts'
import { createEgress } from '../../runtime/egress/fetch.ts'
import { parsePrivateGrants } from '../../runtime/egress/limits/grants.ts'
import { createRedact } from '../../runtime/redact/redact.ts'
import { manifestOf } from '../egress/fixtures/open-egress.ts'
import { sealed } from '../egress/fixtures/secrets.ts'
import { measureBridges } from './bridges.ts'

const WHOLE = 3000
const ROUNDS = Number(process.env['ROUNDS'] ?? WHOLE)
const WARM_UP = ROUNDS / 6
const GOAL_MS = 0.3

/** Runs in a thread of its own, so that its work is not counted. A list of 100 accounts is about 28 kB. */
const UPSTREAM = `
  const { createServer } = require('node:http')
  const { parentPort } = require('node:worker_threads')
  const account = (id) => ({ id, email: id + '@example.com', name: { first: 'Given', last: 'Family' }, text: 'x'.repeat(180) })
  const list = JSON.stringify({ users: Array.from({ length: 100 }, (_, index) => account('user-' + index)) })
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'abc' })
      response.end(list)
    })
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

const upstream = new Worker(UPSTREAM, { eval: true })
const port = await new Promise<number>((resolve) => upstream.once('message', resolve))
const origin = `http://127.0.0.1:${port}`
const token = 'a-token-of-forty-characters-1234567890ab'
const agent = new Agent({ keepAliveTimeout: 10_000 })
const egress = createEgress({
  privateGrants: parsePrivateGrants(`acme=127.0.0.1:${port}`),
  proxy: null,
  userAgent: 'keyway/bench',
  // The pace limit is not to be measured.
  ceilings: { maxRequestsPerSecond: 1_000_000 },
})
const manifest = manifestOf([{ url: origin }], { limits: { requests_per_second: 1_000_000 } })
const json: [string, string][] = [['content-type', 'application/json']]

const placeholdersOf = (secrets: CallSecrets | null) =>
  secrets && {
    texts: () => secrets.secrets.map(({ placeholder }) => placeholder),
    scan: secrets.marks.scan,
  }

/** A separate call for each request, recorded without its secrets, like a connector's call. */
function through(
  auth: object | null,
  make: (secret: string) => { headers: [string, string][]; body: string | null },
) {
  return async () => {
    const secrets = auth === null ? null : sealed({ auth })
    const { token: held, basic } = secrets?.sealed.auth ?? {}
    const { headers, body } = make(held?.token ?? basic?.password ?? token)
    const call = egress.open({
      connectorId: 'acme',
      manifest,
      capability: 'list_accounts',
      level: 'write',
      settings: {},
      signal: new AbortController().signal,
      secrets,
      redact: createRedact(() => [token], undefined, placeholdersOf(secrets)),
    })
    await call.fetch({
      url: `${origin}/users?limit=100`,
      method: body === null ? 'GET' : 'POST',
      headers,
      body: body === null ? null : Buffer.from(body),
      redirect: 'follow',
    })
  }
}

const bearer = (secret: string) => ({
  headers: [['authorization', `Bearer ${secret}`]] as [string, string][],
  body: null,
})
const WAYS: Record<string, () => Promise<unknown>> = {
  'undici alone': async () => {
    const { body } = await agent.request({
      origin,
      path: '/users?limit=100',
      method: 'GET',
      headers: { authorization: `Bearer ${token}` },
    })
    await body.arrayBuffer()
  },
  'egress, no secrets': through(null, bearer),
  'a token in a header': through({ token: { token } }, bearer),
  Basic: through({ basic: { username: 'jo', password: token } }, (secret) => ({
    headers: [['authorization', `Basic ${Buffer.from(`jo:${secret}`).toString('base64')}`]],
    body: null,
  })),
  'a secret in 10 kB of JSON': through({ token: { token } }, (secret) => ({
    headers: json,
    body: JSON.stringify({ password: secret, text: 'x'.repeat(10_000) }),
  })),
}

const times = new Map<string, number[]>(Object.keys(WAYS).map((name) => [name, []]))
for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
  for (const [name, run] of Object.entries(WAYS)) {
    const begunMs = performance.now()
    await run()
    if (round >= WARM_UP) times.get(name)?.push(performance.now() - begunMs)
  }
}

const quantile = (name: string, share: number): number => {
  const sorted = [...(times.get(name) ?? [])].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN
}
const base = quantile('undici alone', 0.5)
console.log(`${ROUNDS} requests each, one at a time, a reply of 28 kB; milliseconds\n`)
console.log(
  `${'way'.padEnd(28)}${'p50'.padStart(8)}${'p99'.padStart(8)}${'over undici at p50'.padStart(22)}`,
)
let worst = 0
for (const name of Object.keys(WAYS)) {
  const over = quantile(name, 0.5) - base
  worst = Math.max(worst, over)
  const shown = [quantile(name, 0.5), quantile(name, 0.99)].map((one) => one.toFixed(3).padStart(8))
  console.log(`${name.padEnd(28)}${shown.join('')}${over.toFixed(3).padStart(22)}`)
}
console.log(`\ngoal: less than ${GOAL_MS} ms over undici: ${worst < GOAL_MS ? 'met' : 'missed'}`)
await Promise.all([egress.close(), agent.close(), upstream.terminate()])
await measureBridges(ROUNDS, ROUNDS === WHOLE)
