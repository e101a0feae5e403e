/** Withdrawn versions: how an index marks them, what hosts install, and what is refused. */
import { describe, expect, test } from 'vitest'
import {
  type PublishedIndex,
  type PublishedVersion,
  parseIndex,
  textOfIndex,
} from '../../../runtime/connectors/published/form.ts'
import {
  type Addition,
  newerOf,
  newestHere,
  nextIndex,
  parseName,
  pick,
  searched,
  withdrawalOf,
} from '../../../runtime/connectors/published/rules.ts'
import {
  requireReason,
  type Withdrawal,
  withdrawn,
} from '../../../runtime/connectors/published/withdrawing.ts'
import { takenBefore } from './before-withdrawals.ts'

const NOW = new Date('2026-11-01T00:00:00.000Z')
const LATER = new Date('2026-11-02T00:00:00.000Z')
const WHY = 'it logs tokens'

const digestOf = (name: string) => Buffer.from(name.padEnd(32)).toString('hex')
const addition = (name: string, more: Partial<PublishedVersion> = {}): Addition => ({
  ...{ id: 'acme', name: 'Acme', description: 'People of Acme', logo: null },
  version: {
    ...{ version: name, digest: digestOf(name), bytes: 100, runtime: '^1.0.0', signed: true },
    wants: [{ kind: 'capability', subject: `does_${name}`, words: 'offers it' }],
    ...more,
  },
})
const acme = (...names: string[]) =>
  nextIndex(
    null,
    names.map((one) => addition(one)),
    { now: NOW, days: 90 },
  )
const change = (index: PublishedIndex, more: Partial<Withdrawal>, now = NOW) =>
  withdrawn(index, { withdraw: [], restore: [], reason: WHY, ...more }, now)
const without = (index: PublishedIndex, ...names: string[]) => change(index, { withdraw: names })
const taken = (index: PublishedIndex, name: string) =>
  pick(index, parseName(name) ?? { id: '', range: '' }).version.version
/** The index as a host reads it. */
const read = (index: PublishedIndex) => parseIndex(textOfIndex(index))
const versionsOf = (index: PublishedIndex) => index.connectors[0]?.versions ?? []

describe('a withdrawn version', () => {
  const index = without(acme('1.0.0', '1.1.0', '1.2.0'), 'acme@1.2.0')

  test('is read as it was written, with its own runtime and wants', () => {
    expect(read(index)).toEqual(index)
    expect(versionsOf(read(index))[0]).toMatchObject({
      ...{ version: '1.2.0', runtime: '^1.0.0', wants: [{ subject: 'does_1.2.0' }] },
      withdrawn: { at: NOW.toISOString(), reason: WHY },
    })
  })

  test.each(['acme', 'acme@^1', 'acme@>=1.1'])('is not selected by %s', (name) => {
    expect(taken(read(index), name)).toBe('1.1.0')
  })

  test.each(['acme@1.2.0', 'acme@~1.2', 'acme@=1.2.0'])(
    'is refused as %s with the reason and an alternative',
    (name) => {
      expect(() => taken(read(index), name)).toThrow(
        /^acme 1\.2\.0 was withdrawn on 2026-11-01 \("it logs tokens"\); take acme@1\.1\.0$/,
      )
    },
  )

  test('is not listed among the available versions', () => {
    expect(() => taken(index, 'acme@^3')).toThrow(
      /^there is no acme of \^3; there are 1\.1\.0, 1\.0\.0$/,
    )
    const early = without(acme('1.0.0-beta.1', '1.0.0-beta.2'), 'acme@1.0.0-beta.2')
    expect(() => taken(early, 'acme')).toThrow(/name one, such as acme@1\.0\.0-beta\.1$/)
  })

  test('is neither the newest nor newer, and is not found by its words', () => {
    expect(newestHere(versionsOf(index))?.version).toBe('1.1.0')
    const newer = newerOf(index, { id: 'acme', version: '1.0.0' })
    expect(newer.map(({ version }) => version.version)).toEqual(['1.1.0'])
    expect(searched(index, ['does_1.2.0'])).toEqual([])
    expect(searched(index, ['does_1.1.0'])).toHaveLength(1)
  })

  test('is reported when exactly that package is installed', () => {
    const of = (digest: string | null) => withdrawalOf(index, { id: 'acme', digest })
    expect(of(digestOf('1.2.0'))).toEqual({ at: NOW.toISOString(), reason: WHY })
    expect(of(digestOf('1.1.0'))).toBeNull()
    expect(of('f'.repeat(64))).toBeNull()
    // A connector that was not installed has no digest, and matches no withdrawal.
    expect(of(null)).toBeNull()
  })

  test('leaves nothing to install when it was the last one', () => {
    const none = without(acme('1.0.0'), 'acme@1.0.0')
    expect(() => taken(none, 'acme')).toThrow(
      /there is no other that runs here: ask its publisher$/,
    )
    expect(() => taken(none, 'acme@^2')).toThrow(/all that there was is withdrawn$/)
    expect(newestHere(versionsOf(none))).toBeUndefined()
    expect(searched(none, ['acme'])).toHaveLength(1)
  })

  test('stays withdrawn in later indexes, even when it is published again', () => {
    const next = nextIndex(read(index), [addition('1.2.0'), addition('1.3.0')], {
      ...{ now: LATER, days: 90 },
    })
    expect(versionsOf(read(next)).filter((one) => one.withdrawn)).toHaveLength(1)
    expect(() => taken(next, 'acme@1.2.0')).toThrow(/was withdrawn/)
  })

  test('is offered again unchanged when it is restored', () => {
    const back = change(read(index), { restore: ['acme@1.2.0'] })
    expect(back).toEqual(acme('1.0.0', '1.1.0', '1.2.0'))
    expect(taken(back, 'acme')).toBe('1.2.0')
    expect(textOfIndex(back)).not.toContain('withdrawn')
  })

  test('is only that build', () => {
    const builds = without(acme('1.2.0+a', '1.2.0+b'), 'acme@1.2.0+b')
    expect(taken(builds, 'acme@1.2.0')).toBe('1.2.0+a')
    expect(() => taken(builds, 'acme@1.2.0+b')).toThrow(/was withdrawn/)
  })

  test('may have as many wants as other versions', () => {
    const wants = Array.from({ length: 1000 }, (_, n) => ({
      ...{ kind: 'capability', subject: `does_${n}`, words: 'offers it' },
    }))
    const large = nextIndex(null, [addition('1.0.0', { wants })], { now: NOW, days: 90 })
    expect(() => taken(read(without(large, 'acme@1.0.0')), 'acme')).toThrow(/was withdrawn/)
  })
})

describe('a host of another release', () => {
  const plain = acme('1.0.0', '1.1.0')

  test('that does not know withdrawals reads the index, and does not install the version', () => {
    const text = textOfIndex(without(plain, 'acme@1.1.0'))
    expect(takenBefore(text, 'acme', '^1')).toBe('1.0.0')
    expect(takenBefore(text, 'acme', '1.0.0')).toBe('1.0.0')
    expect(() => takenBefore(text, 'acme', '1.1.0')).toThrow(
      /needs the runtime none, since this version is withdrawn$/,
    )
    const back = change(parseIndex(text), { restore: ['acme@1.1.0'] })
    expect(takenBefore(textOfIndex(back), 'acme', '^1')).toBe('1.1.0')
  })

  test('that does not know withdrawals writes an index that can be read', () => {
    const written = JSON.stringify(plain)
    expect(parseIndex(written)).toEqual(plain)
    expect(taken(parseIndex(written), 'acme')).toBe('1.1.0')
    expect(JSON.parse(textOfIndex(plain))).toEqual(JSON.parse(written))
  })

  test('that has a newer form of withdrawals writes an index that can be read, without the version', () => {
    const text = textOfIndex(without(plain, 'acme@1.1.0')).replace('"withdrawn-1"', '"withdrawn-2"')
    expect(taken(parseIndex(text), 'acme')).toBe('1.0.0')
    expect(() => taken(parseIndex(text), 'acme@1.1.0')).toThrow(/since this version is withdrawn/)
  })
})

describe('an index with an invalid withdrawal is refused:', () => {
  const good = JSON.parse(textOfIndex(without(acme('1.0.0'), 'acme@1.0.0')))
  const [mark, ...wants] = good.connectors[0].versions[0].wants
  const reading = (changed: object[]) => {
    const text = structuredClone(good)
    text.connectors[0].versions[0].wants = changed
    return () => parseIndex(JSON.stringify(text))
  }

  test('a version withdrawn twice', () => {
    expect(reading([mark, ...wants])).not.toThrow()
    expect(reading([mark, mark, ...wants])).toThrow(/connectors.*it is withdrawn twice/)
  })

  test.each([
    ['a reason of 1 MiB', { words: 'x'.repeat(1024 * 1024) }],
    ['a reason over the maximum length', { words: 'x'.repeat(501) }],
    ['an empty reason', { words: ' ' }],
    ['a reason with an escape sequence', { words: 'a\u001b[2Jb' }],
    ['a reason of two lines', { words: 'a\nb' }],
    ['a reason that changes the text direction', { words: 'a\u202eb' }],
    ['a reason with half of a character', { words: 'a\ud800b' }],
    ['details that are not JSON', { subject: '{' }],
    ['an invalid time', { subject: '{"at":"soon","runtime":"^1.0.0"}' }],
    ['no range of runtimes', { subject: '{"at":"2026-11-01T00:00:00.000Z"}' }],
    [
      'an unknown member of the details',
      { subject: '{"at":"2026-11-01T00:00:00.000Z","runtime":"","x":1}' },
    ],
  ])('%s', (_, more) => {
    expect(reading([{ ...mark, ...more }, ...wants])).toThrow(/^the index: connectors/)
  })

  test('an unknown member', () => {
    const named = structuredClone(good)
    named.connectors[0].versions[0].withdrawn = { at: NOW.toISOString(), reason: WHY }
    expect(() => parseIndex(JSON.stringify(named))).toThrow(/the index: connectors.*withdrawn/)
  })
})

describe('withdrawing', () => {
  const index = acme('1.0.0', '1.1.0')

  test('a version twice keeps the first date and takes the newer reason', () => {
    const again = change(
      without(index, 'acme@1.1.0', 'acme@1.1.0'),
      { withdraw: ['acme@1.1.0'], reason: ' it logs tokens of admins ' },
      LATER,
    )
    expect(versionsOf(read(again))[0]?.withdrawn).toEqual({
      ...{ at: NOW.toISOString(), reason: 'it logs tokens of admins' },
    })
  })

  test('with a clock that was set back a little still makes a newer index', () => {
    const back = new Date(NOW.getTime() - 3_600_000)
    const next = change(
      nextIndex(index, [], { now: back, days: 90 }),
      { withdraw: ['acme@1.1.0'] },
      back,
    )
    expect(next.version).toBe(index.version + 1)
    expect(() => taken(read(next), 'acme@1.1.0')).toThrow(/was withdrawn on 2026-10-31/)
    // With a clock that was set back by more than a day, nothing is signed.
    expect(() => nextIndex(index, [], { now: new Date(0), days: 90 })).toThrow(/the clock of this/)
  })

  test.each([
    [
      { withdraw: ['acme@9.9.9'] },
      /^there is no acme 9\.9\.9 in this registry; there are 1\.1\.0, 1\.0\.0$/,
    ],
    [{ withdraw: ['other@1.0.0'] }, /^there is no connector other/],
    [{ withdraw: ['acme'] }, /names no published version: write its id and version/],
    [{ withdraw: ['acme@^1'] }, /there is no acme \^1 in this registry/],
    [{ withdraw: ['../acme@1.0.0'] }, /names no published version/],
    [{ restore: ['acme@1.0.0'] }, /^acme@1\.0\.0 is not withdrawn$/],
    [{ restore: ['acme@9.9.9'] }, /^there is no acme 9\.9\.9/],
    [{ withdraw: ['acme@1.0.0'], restore: ['acme@1.0.0'] }, /withdrawn and restored: choose one$/],
  ])('%j is refused', (more, words) => {
    expect(() => change(index, more)).toThrow(words)
  })

  test.each([
    [{ withdraw: ['acme@1.0.0'], reason: '' }, /say why.*--reason/],
    [{ withdraw: ['acme@1.0.0'], reason: ' ' }, /say why/],
    [{ withdraw: ['acme@1.0.0'], reason: 'x'.repeat(501) }, /500 characters at most/],
    [{ withdraw: ['acme@1.0.0'], reason: 'a\u0007' }, /without control characters/],
    [{ withdraw: [], reason: WHY }, /name one by --withdraw/],
  ])('needs a valid reason: %j', (more, words) => {
    expect(() => requireReason({ restore: [], ...more })).toThrow(words)
  })
})
