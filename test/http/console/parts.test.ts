/** How the console renders data, without a host: differences, egress, time steps, charts. */
import { describe, expect, test } from 'vitest'
import { signOf } from '../../../runtime/http/console/change.ts'
import { ceiling, lineChart } from '../../../runtime/http/console/charts.ts'
import { egressMap, isMeant, waysOf } from '../../../runtime/http/console/egress-map.ts'
import { bytesOf, share, slotsOf } from '../../../runtime/http/console/slots.ts'
import { localeOf } from '../../../runtime/http/frame/locale.ts'

test.each([
  ['acme: may send GET to https://a.example (for list_accounts)', 'plus'],
  ['acme: may no longer see token in clear', 'minus'],
  ['acme: disabled for new calls', 'minus'],
  ['acme: 0.2.0 goes on serving', 'same'],
  ['acme: 0.2.0 → 0.3.0', 'plus'],
  ['acme: 0.2.0 forgotten (0123456789ab)', 'minus'],
  ['may send DELETE to https://a.example/removed (for delete_account)', 'plus'],
  ['acme: may send GET to https://a.example/ends (for list_accounts)', 'plus'],
  ['acme: may no longer send GET to https://a.example/stays (for list_accounts)', 'minus'],
  ['publisher All that ends: trusted (key k1)', 'plus'],
  ['publisher All that stays: trusted no more (key k1)', 'minus'],
  ['its name is "removed \\" and disabled"', 'plus'],
  ['it is sent to https://removed.example', 'plus'],
  ['the header disabled has the new value', 'plus'],
  ['the header x-a is no longer sent', 'minus'],
  ['it is off', 'minus'],
])('the line %j of a difference has the sign %s', (line, sign) => expect(signOf(line)).toBe(sign))

describe('the egress of a connector', () => {
  const want = (capability: string, url: string) => ({
    ...{ kind: 'egress' as const, subject: url, words: `sends GET to ${url}` },
    key: JSON.stringify([capability, 'GET', url]),
  })
  const called = (host: string, requests: number, refused = 0) => ({
    ...{ connector: 'acme', capability: 'list_accounts', host, requests, refused },
  })
  const wants = [
    want('list_accounts', 'https://{tenant}.acme.example/v1'),
    want('list_accounts', 'https://files.acme.example'),
  ]

  test.each([
    [12, 0],
    [30, 18],
    [100, 88],
  ])(
    'with %i hosts is drawn, or folded after twelve hosts if there are too many',
    async (count, folded) => {
      const many = Array.from({ length: count }, (_, n) =>
        want('list_accounts', `https://h${n}.example`),
      )
      const ways = waysOf({ wants: many, withheld: [] }, [])
      const page = String(await egressMap(localeOf('en'), 'acme', ways))
      const [shown = '', more = ''] = page.split('<details')
      if (folded === 0) return expect(shown).toContain('<svg class="graph"')
      expect(shown.match(/h\d+\.example/g)).toHaveLength(12)
      expect(more).toContain(`${folded} more ways out</summary>`)
      expect(more.match(/h\d+\.example/g)).toHaveLength(folded)
    },
  )

  test('lists hosts that need a decision first: refused, wanted, then used', () => {
    const [, files] = wants
    const ways = waysOf({ wants, withheld: files ? [files] : [] }, [
      called('eu.acme.example', 7),
      called('spy.example', 0, 3),
    ])
    expect(ways.map(({ host, state, requests }) => [host, state, requests])).toEqual([
      ['spy.example', 'refused', 0],
      ['files.acme.example', 'wanted', 0],
      ['{tenant}.acme.example', 'used', 7],
    ])
  })

  test.each([
    ['{tenant}.acme.example', 'eu.acme.example', true],
    ['{tenant}.acme.example', 'acme.example', false],
    ['api.acme.example', 'apixacme.example', false],
    ['api.acme.example:8443', 'api.acme.example', true],
  ])('with the pattern %s covers the host %s: %s', (pattern, host, meant) =>
    expect(isMeant(pattern, host)).toBe(meant),
  )
})

test('time steps without calls are listed as empty', () => {
  const now = new Date('2026-11-23T12:10:00Z')
  const slots = slotsOf([], now, { hours: 24, stepMinutes: 30 })
  expect(slots).toHaveLength(48)
  expect(slots.at(-1)?.at.toISOString()).toBe('2026-11-23T12:00:00.000Z')
  expect(slots.every(({ step }) => step === null)).toBe(true)
})

test('shares, byte counts and axis ceilings are rounded', () => {
  const t = localeOf('en')
  expect([share(1, 3, t), share(0, 0, t), bytesOf(0, t), bytesOf(1_234_567, t)]).toEqual([
    ...['33.3', '0', '0 B', '1.2 MB'],
  ])
  expect([0, 4.5, 99, 101, 1999].map(ceiling)).toEqual([4, 6, 100, 200, 2000])
})

test('a chart has gaps where nothing was measured, and an escaped title', async () => {
  const picture = { id: 'p', title: 'T <b>', text: 'D', marks: new Map([[0, '10:00']]), steps: 4 }
  const values = [1, null, 3, 4]
  const text = String(await lineChart(picture, [{ name: 'p50', look: 'busy', values }]))
  expect(text).toContain('<title id="p-t720">T &lt;b&gt;</title>')
  expect(text.match(/ d="M[^"]*"/g)?.some((d) => (d.match(/M/g) ?? []).length === 2)).toBe(true)
})
