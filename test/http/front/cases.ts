/** Requests as random programs, proxies and attackers send them; a seed yields the same case in every run. */
import { createRandom } from '../../contract/fixtures/random.ts'
import { TOKEN } from './two-ways.ts'

/** The writes of one connection. */
export type Case = { chunks: Buffer[] }

type Random = ReturnType<typeof createRandom>

const METHODS = [
  'POST',
  'POST',
  'POST',
  'POST',
  'POST',
  'GET',
  'PUT',
  'post',
  'POSTS',
  'HEAD',
  'OPTIONS',
  '\r\nPOST',
  'PRI',
]
const PATHS = [
  ...Array<string>(12).fill('/connectors/acme/list_accounts'),
  '/connectors/acme/list-accounts',
  '/connectors/acme/info',
  '/connectors/acme/app_info',
  '/connectors/acme/fly',
  '/connectors/other/list_accounts',
  '/connectors/acme/list_accounts/',
  '/connectors/acme//list_accounts',
  '/connectors/./acme/list_accounts',
  '/connectors/../connectors/acme/list_accounts',
  '/connectors/acme/list_accounts?x=1',
  '/connectors/acme/list%5faccounts',
  '/connectors/list_connector_app_ids',
  'http://localhost/connectors/acme/list_accounts',
  '/connectors/acme/list_accounts#x',
  '*',
  '/end',
  '/x',
]
const VERSIONS = [
  ...Array<string>(14).fill('HTTP/1.1'),
  'HTTP/1.0',
  'HTTP/2.0',
  'http/1.1',
  'HTTP/1.1 ',
  ' HTTP/1.1',
  '',
]
const ODD_HEADERS = [
  'X-Request-Id: mine-1',
  'X-Request-Id: not plain!',
  'X-Request-Id:',
  'x-lumos-observability-dagster.run_id: run.7',
  'X-LUMOS-OBSERVABILITY-FLOWS_V2_EXECUTION_ID: flow-1',
  'User-Agent: probe/1.0 (x; y)',
  'Accept: */*',
  'accept-encoding: gzip, br',
  'Connection: keep-alive',
  'Connection: Keep-Alive',
  'Connection: close',
  'Connection: keep-alive, close',
  'Connection: upgrade',
  'Upgrade: h2c',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding : chunked',
  'transfer-encoding:\tchunked',
  'Content-Length: 5',
  'Content-Length: 0',
  'Content-Length: +5',
  'Content-Length: 5, 5',
  'Content-Length: 0x5',
  'Content-Length: -1',
  'Content-Length: 5 5',
  'Content-Length: 05',
  'Content-Length: 99999999999999999999',
  'Content-Length: 1048577',
  'Content-Length:',
  'Content-Length : 5',
  'Content-Type: text/plain',
  'Content-Type: application/json',
  'Content-Type: application/json;charset=utf-8',
  'Expect: 100-continue',
  'Host: example.com',
  'Host: localhost',
  'Host:',
  'Authorization: Bearer wrong',
  'Authorization: Basic eDp5',
  'Trailer: X',
  'TE: trailers',
  'Keep-Alive: timeout=100',
  'Cookie: a=b',
  'X-Odd: caf\xe9',
  'X-Odd: a\x00b',
  'X-Odd: a\x7fb',
  'X-Odd: a\nContent-Length: 5',
  'X-Odd: a\rb',
  'X-Odd: a\r\n folded',
  'X-Odd: a\r\n\tContent-Length: 5',
  ' X-Odd: leading',
  'X-Odd : spaced',
  'X-Odd',
  ': none',
  'X-\x01dd: x',
  'X-Odd:\u000bx',
  'X-Forwarded-For: 10.0.0.1',
  'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
]
const BODIES = [
  '{}',
  '{"request":{}}',
  '{"fail":"threw"}',
  '{"fail":"defect"}',
  '{"fail":"later"}',
  '{"fill":5000}',
  '{"fill":200000}',
  '\ufeff{}',
  'no json',
  '[1,2',
  '{"a":"caf\u00e9 \u20ac"}',
  `${'['.repeat(5000)}`,
  `[${'1,'.repeat(70_000)}1]`,
  'x'.repeat(70_000),
]
const ENDS = ['\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\n\r\n']

/** The last request of a connection: its answer shows that the bytes before it were understood alike. */
const LAST = Buffer.from('GET /end HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')

/** Makes a case; the same seed makes the same one. */
export function caseOf(seed: number): Case {
  const random = createRandom(seed)
  const requests = Array.from({ length: 1 + random.below(3) }, () => requestOf(random))
  const bytes = Buffer.concat(random.below(4) === 0 ? requests : [...requests, LAST])
  return { chunks: split(random, random.below(4) === 0 ? mutated(random, bytes) : bytes) }
}

/** One request: usual, except for a few things at most. */
function requestOf(random: Random): Buffer {
  const isOdd = random.below(4) > 0
  const { pick } = random
  const isOddOneIn = (oneIn: number): boolean => isOdd && random.below(oneIn) === 0
  const line = isOddOneIn(4)
    ? `${pick(METHODS)} ${pick(PATHS)} ${pick(VERSIONS)}`
    : 'POST /connectors/acme/list_accounts HTTP/1.1'
  const text = isOddOneIn(20) ? Buffer.from([0xff, 0xfe, 0x7b]) : Buffer.from(pick(BODIES))
  const isChunked = isOddOneIn(6)
  const body = isChunked ? chunkedOf(random, text) : text
  const length = isOddOneIn(8) ? body.length + random.below(7) - 3 : body.length
  const headers = [
    'Host: localhost',
    'Content-Type: application/json',
    `Authorization: Bearer ${TOKEN}`,
    `Content-Length: ${length}`,
  ].filter(() => !isOddOneIn(20))
  if (isChunked && random.below(2) === 0) headers.push('Transfer-Encoding: chunked')
  for (let left = isOdd ? random.below(3) : 0; left > 0; left--)
    headers.splice(random.below(headers.length + 1), 0, pick(ODD_HEADERS))
  const end = isOddOneIn(10) ? pick(ENDS) : '\r\n'
  return Buffer.concat([Buffer.from(`${[line, ...headers].join(end)}${end}${end}`, 'latin1'), body])
}

/** A body in a chunk, which its head may or may not announce. */
const chunkedOf = (random: Random, bytes: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from(random.below(4) === 0 ? '\r\n0\r\nX: y\r\n\r\n' : '\r\n0\r\n\r\n'),
  ])

/** Changes, removes or inserts one to three bytes near the beginning, where heads are. */
function mutated(random: Random, bytes: Buffer): Buffer {
  let out = bytes
  for (let left = 1 + random.below(3); left > 0; left--) {
    const at = random.below(Math.min(out.length, 400))
    const put = Buffer.from([random.below(2) === 0 ? random.below(256) : (out[at] ?? 0) ^ 0x20])
    const kind = random.below(3)
    out = Buffer.concat([
      out.subarray(0, at),
      ...(kind === 1 ? [] : [put]),
      out.subarray(kind === 2 ? at : at + 1),
    ])
  }
  return out
}

/** Splits the bytes into writes: one, or several at random places. */
function split(random: Random, bytes: Buffer): Buffer[] {
  const pieces = random.below(3) === 0 ? 1 + random.below(5) : 1
  const marks = Array.from({ length: pieces - 1 }, () => random.below(bytes.length)).sort(
    (a, b) => a - b,
  )
  return [0, ...marks].map((from, index) => bytes.subarray(from, marks[index] ?? bytes.length))
}
