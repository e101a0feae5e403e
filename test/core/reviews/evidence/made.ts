/** Small, complete sample evidence, made without a database. */
import { createHash } from 'node:crypto'
import { type EvidenceKind, writeEvidence } from '../../../../runtime/core/reviews/evidence/form.ts'
import { createSigner, type Signer } from '../../../../runtime/secrets/signing-key.ts'

export const signer = createSigner(['evidence-tests-'.repeat(3)])
export const other = createSigner(['somebody-elses-'.repeat(3)])

type Line = [kind: EvidenceKind, content: Record<string, unknown>]

export async function written(lines: readonly Line[], by: Signer = signer): Promise<Buffer> {
  const pieces: Buffer[] = []
  const writer = writeEvidence(by, async (bytes) => void pieces.push(bytes))
  for (const [kind, content] of lines) await writer.add(kind, content)
  await writer.seal()
  return Buffer.concat(pieces)
}

const AT = '2027-03-01T08:00:00.000Z'

/** An entry of the log, chained to the hash of its predecessor. */
export function entry(before: string, type: string, metadata: object): Line {
  const body = JSON.stringify(['d', type, 'Succeeded', {}, [{ id: 'r' }], metadata]).slice(1, -1)
  const whole = `["${before}",${body},"${AT}"]`
  const hash = createHash('sha512').update(whole).digest('hex')
  return ['log', { before, body, began_at: AT, hash }]
}

const item = (n: number, more: object): Line => [
  'item',
  {
    ...{ id: `i${n}`, arda_id: 'a', place: n, state: 'KEPT', unique_identifier: `ümlaut-${n}` },
    ...{ gone_at: null, gone_run: null, decisions: [decision('t1', 'KEEP', 'mia')], ...more },
  },
]
const decision = (act: string, name: string, by_id: string | null) => ({
  ...{ act, decision: name, by_id, at: AT },
})

/** The lines of a review of `count` lines, of which one was rejected and removed. */
export function sampleLines(count = 20): Line[] {
  const population = { run: 7, at: AT, synced: count + 3, items: count }
  const shown = { connector_digest: 'c0ffee', excluded: { EMAIL_DOMAIN: 2 }, left_out: 1 }
  const logged = { connectorDigest: 'c0ffee', excluded: { EMAIL_DOMAIN: 2 }, leftOut: 1 }
  const launched = { arda_id: 'a', population: { ...population, ...logged } }
  const acts = [
    { id: 't1', by_id: 'mia', decision: 'KEEP', reason: null, items: count - 1 },
    { id: 't2', by_id: null, decision: 'REJECT', reason: 'nobody decided', items: 1 },
  ]
  const actEntries = acts.map(({ id, decision: name, items }) => ({
    ...{ act_id: id, decision: name, items, by_filter: true },
  }))
  const gone = {
    ...{ decisions: [decision('t2', 'REJECT', null)], state: 'REMOVED', gone_at: AT },
    readings: [
      { at: AT, capability: 'get_account', call_id: 'r.1', shown: true },
      { at: AT, capability: 'get_account', call_id: 'r.2', shown: false },
    ],
  }
  return [
    [
      'review',
      {
        ...{ form: 'keyway-evidence-1', taken_at: AT, final: true },
        review: { id: 'r', name: 'Quarter', status: 'COMPLETED', created_at: AT },
      },
    ],
    ['person', { id: 'mia', email: 'mia@acme.example', name: 'Mia' }],
    [
      'app',
      { arda_id: 'a', name: 'Ledger', launched_at: AT, population: { ...population, ...shown } },
    ],
    ...acts.map((act): Line => ['act', { ...act, filter: {}, at: AT }]),
    ['chain', { head: 'f00d', removed: 0, kept_from: null }],
    ...Array.from({ length: count }, (_, n) => item(n + 1, n === count - 1 ? gone : {})),
    entry('', 'ACCESS_REVIEW_APP_LAUNCHED', launched),
    ...actEntries.map((one) => entry('ab', 'ACCESS_REVIEW_DECIDED', one)),
    entry('cd', 'ACCESS_REVIEW_ITEM_REMOVED', { item_id: `i${count}`, call_id: 'r.2' }),
  ]
}
