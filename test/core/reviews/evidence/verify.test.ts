/** Both verifiers detect tampering with an evidence file and report it in the same words. */
import { expect, test } from 'vitest'
import { membersOf } from '../../../../runtime/contract/schema/record.ts'
import { sha256 } from '../../../../runtime/core/reviews/evidence/form.ts'
import { createPage } from '../../../../runtime/core/reviews/evidence/page.ts'
import { verifyEvidence } from '../../../../runtime/core/reviews/evidence/verify.ts'
import type { Language } from '../../../../runtime/words/languages.ts'
import { entry, other, sampleLines, signer, written } from './made.ts'
import { type Flip, flipped, hasPython, verdictOfHost, verdictsOfScript } from './verdicts.ts'

const KEY = signer.key.fingerprint
const good: Buffer = await written(sampleLines())
const lines = good.toString('utf8').split('\n').slice(0, -1)
const joined = (all: readonly string[]) => Buffer.from(all.map((one) => `${one}\n`).join(''))
const without = (at: number) => lines.toSpliced(at, 1)

type Case = readonly [what: string, file: Buffer, says: RegExp]

/** Checks that both verifiers refuse each file, for the expected reason. */
async function refused(cases: readonly Case[]): Promise<void> {
  const files = cases.map(([, file]) => file)
  const refusals: (string | null)[] = []
  for (const [what, file, says] of cases) {
    const words = await verdictOfHost(file, KEY)
    expect(words, what).toMatch(says)
    refusals.push(words)
  }
  if (hasPython) expect(await verdictsOfScript(KEY, { files })).toEqual(refusals)
}

test('an unchanged file is valid, by the fingerprint and by the key', async () => {
  for (const key of [KEY, signer.key.publicKey]) {
    expect(await verdictOfHost(good, key)).toBeNull()
    if (hasPython) expect(await verdictsOfScript(key, { files: [good] })).toEqual([null])
  }
})

test('a flipped bit is detected in each of a thousand bytes', async () => {
  // Every byte of the seal, and a thousand others spread over the file.
  const seal = good.length - (lines.at(-1)?.length ?? 0) - 1
  const places = [
    ...Array.from({ length: good.length - seal }, (_, n) => seal + n),
    ...Array.from({ length: 1000 }, (_, n) => (n * 7919) % seal),
  ]
  const flips = places.map((at, n): Flip => [at, 1 << (n % 8)])
  expect(flips.length).toBeGreaterThan(1000)
  for (const flip of flips)
    expect(await verdictOfHost(flipped(good, flip), KEY), `byte ${flip[0]}`).not.toBeNull()
  if (hasPython) expect(await verdictsOfScript(KEY, { file: good, flips })).not.toContain(null)
})

/** The lines, one of them with other content and the digest of that. */
function rewritten(at: number, from: string, to: string): string[] {
  const line = lines[at] ?? ''
  const text = `${line.slice(0, -77).replace(from, to)}}`
  if (!line.includes(from)) throw new Error(`${line} has no ${from}`)
  return lines.with(at, `${text.slice(0, -1)},"sha256":"${sha256(text)}"}`)
}

const swapped = lines.with(9, lines[10] ?? '').with(10, lines[9] ?? '')

const shorterSeal =
  String(await written(sampleLines(5)))
    .trimEnd()
    .split('\n')
    .at(-1) ?? ''

const TOUCHED: Case[] = [
  ['cut behind a line', joined(lines.slice(0, 12)), /^it is cut: it ends after line 12, without/],
  ['cut within a line', good.subarray(0, 3000), /^it is cut: it ends in the middle of line \d+$/],
  ['cut before its seal', joined(without(lines.length - 2)), /^it is cut: it has 29 lines, .* 30$/],
  ['without a line', joined(without(10)), /^line 11 is missing: line 12 is in its place$/],
  ['reordered', joined(swapped), /^its lines are out of order: line 11 is where line 10/],
  [
    'with a line twice',
    joined(lines.toSpliced(9, 0, lines[8] ?? '')),
    /^its lines are out of order: line 9 is where line 10/,
  ],
  ['changed', Buffer.from(String(good).replace('KEPT', 'OPEN')), /^line 7 was changed$/],
  ['rewritten', joined(rewritten(7, 'ümlaut-2', 'umlaut-2')), /^its seal belongs to another text/],
  [
    'with the seal of a shorter file',
    joined([...lines.slice(0, -1), shorterSeal]),
    /^its seal belongs to another file: it has 30 lines, and its seal says 15$/,
  ],
  ['longer', Buffer.concat([good, good]), /^it has data after its seal$/],
  ['another file', Buffer.from('{"a":1}\n'), /^line 1 was changed, or it is not evidence/],
  ['empty', Buffer.alloc(0), /^it is cut: it ends after line 0/],
]

test('a file that was truncated, reordered, changed or extended is refused for that reason', () =>
  refused(TOUCHED))

test('a file signed by another key is refused, even if it contains the expected key', async () => {
  const again = await written(sampleLines(), other)
  const claimed = String(again).replace(other.key.publicKey, signer.key.publicKey)
  const [theirKey, why] = [other.key.fingerprint, 'it is signed by another key: its fingerprint is']
  await refused([
    ['signed again', again, new RegExp(`^${why} ${theirKey}, not ${KEY}$`)],
    ['with another key named', Buffer.from(claimed), /^its signature was not made by this key/],
  ])
})

const POPULATION = sampleLines()[2]?.[1]['population'] as object
type Lines = ReturnType<typeof sampleLines>
const changed = (at: number, values: object): Lines =>
  sampleLines().map(([kind, content], n) => [kind, n === at ? { ...content, ...values } : content])

/** A second stage, and line 9 with a red hint and a KEEP decision of each act. */
function secondStage(item: object, acts: readonly string[] = ['t1']): Lines {
  const launch = { arda_id: 'a', second_reviewers: 'MANAGERS' }
  return sampleLines().map(([kind, content], n): Lines[number] => {
    if (n === 2) return [kind, { ...content, second_reviewers: 'MANAGERS' }]
    if (n === 26)
      return entry('', 'ACCESS_REVIEW_APP_LAUNCHED', {
        ...membersOf(membersOf(JSON.parse(`[${content['body']}]`))[5]),
        ...launch,
      })
    if (n !== 8) return [kind, content]
    const hints = [{ name: 'PERSON_TERMINATED', red: true }]
    const [one] = content['decisions'] as object[]
    const decisions = acts.map((act) => ({ ...one, act }))
    return [kind, { ...content, hints, decisions, ...item }]
  })
}

const SEALED: [what: string, lines: Lines, says: RegExp][] = [
  [
    'a line less than the population',
    sampleLines().toSpliced(7, 1),
    /Ledger has 19 lines, and its population 20/,
  ],
  [
    'counts that do not add up',
    changed(2, { population: { ...POPULATION, synced: 99 } }),
    /does not add up: 23 of 99/,
  ],
  [
    'a state that no decision led to',
    changed(8, { state: 'REMOVED', gone_at: 'x' }),
    /line 9 is REMOVED, which does not follow from its last decision \(KEEP\)/,
  ],
  [
    'a decision that no act made',
    changed(8, { decisions: [] }),
    /the decisions on lines differ from those of the acts/,
  ],
  [
    'an act that the log does not have',
    sampleLines().toSpliced(-2, 1),
    /the acts differ from those in the log/,
  ],
  [
    'a removal that the log does not have',
    sampleLines().slice(0, -1),
    /the removals differ from those in the log/,
  ],
  [
    'a removal without a reading',
    changed(25, { gone_at: null }),
    /line 26 is REMOVED without a check of the system/,
  ],
  [
    'a removal whose last reading still shows it',
    changed(25, { readings: [{ at: 'x', call_id: 'r.2', shown: true }] }),
    /line 26 is REMOVED, but the last check of the system still shows it/,
  ],
  [
    'a reading that the log does not have',
    changed(25, { readings: [{ at: 'x', call_id: 'r.3', shown: false }] }),
    /the last checks of removed access differ from those in the log/,
  ],
  [
    'a launch that the log does not have',
    sampleLines().toSpliced(26, 1),
    /the log does not have the launch of Ledger/,
  ],
  [
    'a line kept by one person where two have to',
    secondStage({ state: 'KEPT' }),
    /line 9 is KEPT, which does not follow from its last decision \(KEEP\)/,
  ],
  [
    'a line confirmed by who kept it',
    secondStage({ state: 'KEPT' }, ['t1', 't1']),
    /line 9 was confirmed by the person who first kept it/,
  ],
  [
    'a line that waits for confirmation although none is required',
    changed(8, { state: 'TO_CONFIRM' }),
    /line 9 is TO_CONFIRM, which does not follow from its last decision \(KEEP\)/,
  ],
  [
    'a second stage that the log does not have',
    changed(2, { second_reviewers: 'APP_ADMINS' }),
    /the confirmers of lines of Ledger differ from the log/,
  ],
  ['an entry that is none', changed(27, { before: 'ac' }), /line 28 is not an entry of the log/],
  [
    'lines of a kind that does not belong there',
    [...sampleLines(), ['person', {}] satisfies Lines[number]],
    /line 31 of the kind person does not belong there/,
  ],
  ['an entry of no form', changed(27, { body: '[' }), /line 28 is not as its kind is/],
]

test('sealed evidence that is inconsistent is refused for that reason', async () => {
  const cases: Case[] = []
  for (const [what, content, says] of SEALED) cases.push([what, await written(content), says])
  await refused(cases)
})

test('evidence is not compared with a log whose old entries were removed', async () => {
  const kept = changed(5, { kept_from: '2028-01-01T00:00:00.000Z', removed: 9 })
  const late = [...kept.slice(0, 26), entry('', 'ACCESS_REVIEW_EVIDENCE_TAKEN', {})]
  const files = [await written(kept.slice(0, 26)), await written(late)]
  for (const file of files) expect(await verdictOfHost(file, KEY)).toBeNull()
  if (hasPython) expect(await verdictsOfScript(KEY, { files })).toEqual([null, null])
})

/** The lines, followed by the page that is rendered from them. */
function withPage(lines: Lines, language: Language = 'en'): Lines {
  const page = createPage(KEY, language)
  for (const [kind, content] of lines) page.take(kind, content)
  return [...lines, ...[...page.parts()].map((part): Lines[number] => ['page', part])]
}

const htmlOf = (lines: Lines): string =>
  lines.flatMap(([kind, { content }]) => (kind === 'page' ? [String(content)] : [])).join('')

test('the page is valid, shows the content of the lines, and escapes HTML in it', async () => {
  const nasty = `<img src=x onerror="alert(1)">&'\u202e\u0000`
  const paged = withPage(
    changed(8, { unique_identifier: nasty, reason: `</td><script>1</script>` }),
  )
  const file = await written(paged)
  expect(await verdictOfHost(file, KEY)).toBeNull()
  if (hasPython) expect(await verdictsOfScript(KEY, { files: [file] })).toEqual([null])
  const html = htmlOf(paged)
  expect(html).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;&#39;\\u{202e}\\u{0}')
  expect(html).not.toMatch(/<script|<img|<link|https?:|\son\w+="/i)
  expect(html).toContain('gone at 2027-03-01T08:00:00.000Z (get_account, call r.2)')
  expect(html).toMatch(/>Ledger<\/td>.*>KEEP<\/td>.*>REMOVED<\/td>/s)
  expect(html).toContain('<td data-head="App">Ledger</td><td data-head="Account">ümlaut-1</td>')
  const heard: string[] = []
  const verified = await verifyEvidence([file], KEY, (part) => heard.push(part))
  expect([verified.page, heard.join('')]).toEqual([true, html])
})

test('the page of access shows reasons, their ends, and what no sync has read yet', () => {
  const access = { id: 'p', name: 'ada@acme.example', status: 'ACTIVE', held: 2 }
  const person = { id: 'p', email: 'ada@acme.example', name: 'Ada' }
  const given = { kind: 'request', request_id: 'r1', ends_at: '2027-04-01T08:00:00.000Z' }
  const html = htmlOf(
    withPage([
      ['access', { access, person }],
      ['held', { kind: 'granted', app_name: 'Ledger', label: 'Pay', reasons: [given] }],
      ['held', { kind: 'group', label: 'Staff', reasons: [{ kind: 'found' }] }],
    ]),
  )
  expect(html).toContain('<h1>Access of Ada (ada@acme.example)</h1>')
  expect(html).toMatch(/>Ledger<.*>read by no sync yet<.*>Pay<.*>request r1 ends 2027-04-01T08/)
  expect(html).toMatch(/>Keyway<.*>Staff \(group\)<.*>found; no request or policy</)
})

test('the page can be in German, and an unknown language is refused', async () => {
  const paged = withPage(sampleLines(), 'de')
  const file = await written(paged)
  expect(await verdictOfHost(file, KEY)).toBeNull()
  if (hasPython) expect(await verdictsOfScript(KEY, { files: [file] })).toEqual([null])
  const html = htmlOf(paged)
  expect(html).toContain('<html lang="de">')
  expect(html).toContain('<th scope="col">Begründung</th>')
  expect(html).toContain('entfernt am 2027-03-01T08:00:00.000Z (get_account, Aufruf r.2)')
  const other = paged.map(([kind, content]): Lines[number] => [
    kind,
    kind === 'page'
      ? { ...content, content: String(content['content']).replace('lang="de"', 'lang="xx"') }
      : content,
  ])
  const says = /starts a page that does not block scripts/
  await refused([['in another language', await written(other), says]])
})

test('the page of many lines shows the first 2000 and the number of the others', async () => {
  const paged = withPage(sampleLines(2500))
  const html = htmlOf(paged)
  expect(html.split('ümlaut-').length - 1).toBe(2000)
  expect(html).toContain('<p>500 more are in the file.</p>')
  expect(paged.filter(([kind]) => kind === 'page').length).toBeGreaterThan(1)
  expect(await verdictOfHost(await written(paged), KEY)).toBeNull()
})

test('a page that is incomplete or could run scripts is refused', async () => {
  const paged = withPage(sampleLines(2500))
  const at = paged.findIndex(([kind]) => kind === 'page')
  const altered = (n: number, values: object): Lines =>
    paged.map(([kind, content], place) => [kind, place === n ? { ...content, ...values } : content])
  const { content } = paged[at]?.[1] ?? {}
  await refused([
    ['without its end', await written(paged.slice(0, -1)), /its page is incomplete/],
    [
      'without its beginning',
      await written(paged.toSpliced(at, 1)),
      /is not the expected part of the page/,
    ],
    [
      'with another end',
      await written(altered(paged.length - 1, { content: 'x' })),
      /differs from the one/,
    ],
    [
      'open to scripts',
      await written(altered(at, { content: String(content).replace("default-src 'none'; ", '') })),
      /starts a page that does not block scripts/,
    ],
  ])
})

const CHAIN: Lines[number] = ['chain', { head: 'f00d', removed: 0, kept_from: null }]
const first = (kind: 'access' | 'offboarding', about: object): Lines[number] => [
  kind,
  {
    ...{ form: 'keyway-evidence-1', taken_at: 'x', final: true },
    [kind]: { id: 'i', name: 'ada@acme.example', status: 'ACTIVE', ...about },
  },
]
const step = (state: string): Lines[number] => ['step', { id: 's', account: 'ada', state }]

test('files about access and offboardings must match the counts and the status in their first line', async () => {
  const held: Lines[number] = ['held', { kind: 'account' }]
  const left = { status: 'COMPLETED', steps: 1 }
  const good = [
    await written([first('access', { held: 2 }), CHAIN, held, held]),
    await written([first('offboarding', left), CHAIN, step('done')]),
  ]
  for (const file of good) expect(await verdictOfHost(file, KEY)).toBeNull()
  if (hasPython) expect(await verdictsOfScript(KEY, { files: good })).toEqual([null, null])
  await refused([
    ['less', await written([first('access', { held: 2 }), CHAIN, held]), /1 lines of access.* 2/],
    ['no step', await written([first('offboarding', left), CHAIN]), /it has 0 accounts.* 1/],
    [
      'not done',
      await written([first('offboarding', left), CHAIN, step('manual')]),
      /1 accounts of an offboarding that is COMPLETED are not done/,
    ],
    [
      'steps in a review',
      await written([...sampleLines().slice(0, 26), step('done')]),
      /1 accounts/,
    ],
  ])
})
