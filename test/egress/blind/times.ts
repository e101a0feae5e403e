/**
 * Measures how much longer concealing takes with the worst secrets and bodies than with harmless secrets of the same
 * lengths: `node test/egress/blind/times.ts`. Prints the ratio of each case; harmless and hostile runs alternate, and
 * the best of each counts, so that other load on the machine matters little.
 */
import { atOnce } from '../../../runtime/bounded/slices.ts'
import { type Echo, echoesOf } from '../../../runtime/egress/blind/echoes.ts'
import { type Known, replaceEchoes } from '../../../runtime/egress/blind/replace-echoes.ts'
import { prepareSearch, type Sought } from '../../../runtime/redact/text-search.ts'

const BODY_BYTES = 256 * 1024
const ROUNDS = 60
const ROOM = { maxBytes: 2 ** 26, hold: () => {} }
/** As long as the placeholders of the host. */
const PLACEHOLDER = `kwsecret${'0123456789abcdef'.repeat(2)}kw`.padEnd(48, 'x')

type Case = { secrets: readonly string[]; body: string }

const dashes = (count: number) => '-'.repeat(count)
const filled = (unit: string) => unit.repeat(Math.ceil(BODY_BYTES / unit.length))

const json = filled(
  '{"id":"0f3a","name":"Ada Lovelace","email":"ada@acme.example","groups":["eng","ops"]},',
)
const names = Array.from({ length: 64 }, (_, at) => `secret-value-number-${at}-of-many`)

const CASES: Record<string, Case> = {
  'a token, a list of accounts': { secrets: ['s3cr3t-t0ken-of-the-tenant'], body: json },
  'a token, echoed all over': {
    secrets: ['s3cr3t-t0ken-of-the-tenant'],
    body: filled('s3cr3t-t0ken-of-the-tenant,'),
  },
  'a token of 12 characters, echoed all over': {
    secrets: ['twelve-chars'],
    body: filled('twelve-chars,'),
  },
  'dashes, b, 4000 dashes; dashes': {
    secrets: [`${dashes(40)}b${dashes(4000)}`],
    body: filled('-'),
  },
  'b, 60000 dashes; dashes': { secrets: [`b${dashes(60_000)}`], body: filled('-') },
  '40 dashes; dashes': { secrets: [dashes(40)], body: filled('-') },
  '4000 dashes; 3999 dashes and a dot': {
    secrets: [dashes(4000)],
    body: filled(`${dashes(3999)}.`),
  },
  '13 dashes; 12 dashes and a dot': { secrets: [dashes(13)], body: filled(`${dashes(12)}.`) },
  'a period of two': { secrets: ['-a'.repeat(500)], body: filled(`${'-a'.repeat(499)}-`) },
  'a period of three, cut off': {
    secrets: [`${'-ab'.repeat(300)}x`],
    body: filled(`${'-ab'.repeat(299)}-a`),
  },
  'Fibonacci words': { secrets: [fibonacci(2000)], body: fibonacci(BODY_BYTES) },
  'many secrets, echoed': { secrets: names, body: filled(names.join(' ')) },
  'many secrets, cut off': {
    secrets: names,
    body: filled(names.map((name) => name.slice(1)).join(' ')),
  },
  'secrets that overlap': {
    secrets: Array.from({ length: 60 }, (_, at) => dashes(12 + at)),
    body: filled(`${dashes(71)}.`),
  },
  'secrets in one another': {
    secrets: Array.from({ length: 60 }, (_, at) => `${'-='.repeat(6 + at)}a`),
    body: filled(`${'-='.repeat(40)}`),
  },
  'begins behind letters only': { secrets: ['-a'.repeat(6)], body: filled('-a') },
  'begins behind escapes': { secrets: ['twelve-chars'], body: filled('%0Atwelve-chars') },
  'a branch at every depth': {
    secrets: Array.from(
      { length: 90 },
      (_, at) => `${String.fromCharCode(33 + at)}${dashes(at + 12)}`,
    ),
    body: filled(`${dashes(101)}~`),
  },
  'branches that are followed': {
    secrets: branching('abcd').map((one) => `${one}----------`),
    body: filled(
      branching('abcd')
        .map((one) => `${one.slice(1)}----------`)
        .join(''),
    ),
  },
  'secrets with many branches': {
    secrets: Array.from({ length: 90 }, (_, at) => `${String.fromCharCode(33 + at)}-------------`),
    body: filled('~-------------}-------------|-------------'),
  },
}

/** All words of four of these characters. */
function branching(alphabet: string): string[] {
  let words = ['']
  for (let length = 0; length < 4; length += 1)
    words = words.flatMap((word) => Array.from(alphabet, (one) => word + one))
  return words
}

function fibonacci(length: number): string {
  let [before, last] = ['-', '-=']
  while (last.length < length) [before, last] = [last, last + before]
  return last.slice(0, length)
}

/** A search for all forms of some secrets. */
function knownOf(secrets: readonly string[]): Known {
  const echoes: Echo[] = [{ bytes: Buffer.alloc(0), instead: Buffer.alloc(0) }]
  const seen = new Set<string>()
  const sought: Sought[] = []
  for (const echo of secrets.flatMap((value) => echoesOf({ value, instead: PLACEHOLDER }))) {
    const key = echo.bytes.toString('latin1')
    if (seen.has(key)) continue
    seen.add(key)
    sought.push({ symbols: echo.bytes, number: echoes.push(echo) - 1 })
  }
  const searches = [atOnce(prepareSearch(sought, { alone: true }))]
  return { searches, echoes, lengths: echoes.map(({ bytes }) => bytes.length) }
}

const BASE62 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Ordinary tokens of the same lengths. */
function harmless(secrets: readonly string[]): string[] {
  let seed = 1
  const next = () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return BASE62[(seed >>> 16) % BASE62.length]
  }
  return secrets.map(({ length }) => Array.from({ length }, next).join(''))
}

function msOf(body: Buffer, known: Known): number {
  const began = performance.now()
  atOnce(replaceEchoes(body, known, ROOM))
  return performance.now() - began
}

let worst = 0
for (const [name, { secrets, body }] of Object.entries(CASES)) {
  const bytes = Buffer.from(body.slice(0, BODY_BYTES), 'latin1')
  const [hostile, usual] = [knownOf(secrets), knownOf(harmless(secrets))]
  let [hostileMs, usualMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < ROUNDS; round += 1) {
    hostileMs = Math.min(hostileMs, msOf(bytes, hostile))
    usualMs = Math.min(usualMs, msOf(bytes, usual))
  }
  worst = Math.max(worst, hostileMs / usualMs)
  console.log(
    `${(hostileMs / usualMs).toFixed(2)}  ${hostileMs.toFixed(1)} ms, harmless ${usualMs.toFixed(1)} ms: ${name}`,
  )
}
console.log(`worst: ${worst.toFixed(2)}`)
