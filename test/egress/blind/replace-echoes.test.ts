/** Which of many texts are found, and that the work does not depend on which texts they are. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { atOnce } from '../../../runtime/bounded/slices.ts'
import { echoesOf } from '../../../runtime/egress/blind/echoes.ts'
import { replaceEchoes } from '../../../runtime/egress/blind/replace-echoes.ts'
import { prepareSearch, searchBack } from '../../../runtime/redact/text-search.ts'

const ROOM = { maxBytes: 2 ** 24, hold: () => {} }
const latin1 = (text: string) => Buffer.from(text, 'latin1')

/** A body with these texts replaced by `<number>`, and the number of steps taken. */
function replaced(texts: readonly string[], body: string, parts = 1) {
  const echoes = ['', ...texts].map((text, number) => ({
    bytes: latin1(text),
    instead: latin1(`<${number}>`),
  }))
  const sought = echoes
    .map(({ bytes }, number) => ({ symbols: bytes as Uint8Array, number }))
    .slice(1)
  const searches = Array.from({ length: parts }, (_, part) =>
    atOnce(
      prepareSearch(
        sought.filter(({ number }) => number % parts === part),
        { alone: true },
      ),
    ),
  )
  const known = { searches, echoes, lengths: echoes.map(({ bytes }) => bytes.length) }
  let steps = 0
  const count = (more: number) => {
    steps += more
  }
  const output = atOnce(replaceEchoes(latin1(body), known, ROOM, count))
  return { text: output.toString('latin1'), steps }
}

/** The same result from a slow and simple implementation. */
function expectedReplacement(texts: readonly string[], body: string): string {
  let output = ''
  for (let at = 0; at < body.length; ) {
    const mayBegin = /(^|[^A-Za-z0-9]|%[0-9A-Fa-f]{2}|\\[nrtbf]|\\u[0-9A-Fa-f]{4})$/.test(
      body.slice(0, at),
    )
    const here = texts
      .filter(
        (one) => body.startsWith(one, at) && !/^[A-Za-z0-9]/.test(body.slice(at + one.length)),
      )
      .sort((a, b) => b.length - a.length)[0]
    if (mayBegin && here !== undefined) {
      output += `<${texts.indexOf(here) + 1}>`
      at += here.length
    } else {
      output += body[at]
      at += 1
    }
  }
  return output
}

const word = (alphabet: string, least: number, most: number) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength: least, maxLength: most })

describe('a body', () => {
  test.each([1, 2])(
    'loses texts that stand alone, the longest first, searched in %i parts',
    (parts) => {
      const texts = fc.uniqueArray(word('a4%\\nu-', 1, 5), { minLength: 1, maxLength: 8 })
      fc.assert(
        fc.property(texts, word('a4%\\nu-', 0, 60), (some, body) => {
          expect(replaced(some, body, parts).text).toBe(expectedReplacement(some, body))
        }),
        { numRuns: 1000 },
      )
    },
  )

  test('loses a text that begins in one block and ends in the next', () => {
    const long = 'x'.repeat(1000)
    for (const before of [65_000, 65_535, 65_536, 131_000]) {
      const filler = '-'.repeat(before)
      expect(replaced([long, '--y'], `${filler}${long}-${filler}y`).text).toBe(
        `${filler}<1>-${filler.slice(2)}<2>`,
      )
    }
  })
})

test('texts are found with any symbols, including those above 255, which rows do not have', () => {
  const units = (text: string) => Uint16Array.from(text, (one) => one.charCodeAt(0))
  const texts = fc.uniqueArray(word('aбв', 1, 5), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(texts, word('aбвг', 0, 60), (some, body) => {
      const sought = some.map((text, at) => ({ symbols: units(text), number: at + 1 }))
      const search = atOnce(prepareSearch(sought, { alone: false }))
      const numbers = new Int32Array(body.length)
      const lengths = [0, ...some.map(({ length }) => length)]
      const all = { from: 0, to: body.length }
      searchBack(search, units(body), all, { state: 0, steps: 0 }, { base: 0, numbers, lengths })
      const longest = Array.from(body, (_, at) =>
        Math.max(0, ...some.filter((one) => body.startsWith(one, at)).map(({ length }) => length)),
      )
      expect(Array.from(numbers, (number) => lengths[number])).toEqual(longest)
    }),
    { numRuns: 1000 },
  )
})

describe('the work', () => {
  /** Repeated pieces of secrets, each cut off before the end of its secret. */
  const hostile = fc
    .tuple(
      fc.array(fc.tuple(word('-a', 1, 2), fc.integer({ min: 12, max: 900 }), word('-ab', 0, 2)), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.nat(),
    )
    .map(([made, at]) => {
      const texts = [...new Set(made.flatMap(([unit, times, end]) => [unit.repeat(times) + end]))]
      const [unit, times] = made[at % made.length] as [string, number, string]
      return { texts, body: `${unit.repeat(times - 1)}${at % 2 ? '' : '-'}`.repeat(200) }
    })

  // Time depends on more than steps: `node test/egress/blind/times.ts` measures it.
  test('on a body is at most twice that with harmless secrets of the same lengths', () => {
    fc.assert(
      fc.property(hostile, ({ texts, body }) => {
        const harmless = texts.map((text, at) =>
          String.fromCharCode(0x100 + at).repeat(text.length),
        )
        expect(replaced(texts, body).steps).toBeLessThanOrEqual(2 * replaced(harmless, body).steps)
      }),
      { numRuns: 50 },
    )
  })

  test('with a branch at every depth is less than two steps a byte', () => {
    const branch = (at: number) => String.fromCharCode(0xa1 + at) + '-'.repeat(at + 12)
    const texts = Array.from({ length: 80 }, (_, at) => branch(at))
    const body = `${'-'.repeat(91)}.`.repeat(300)
    expect(replaced(texts, body).steps).toBeLessThan(2 * body.length)
  })

  test.each([
    ['dashes', `${'-'.repeat(40)}b${'-'.repeat(4000)}`],
    ['a letter before dashes', `b${'-'.repeat(60_000)}`],
    ['dashes alone', '-'.repeat(40)],
  ])(
    'on half a mebibyte of dashes is under 2.5 steps a byte, for a token of %s in all its forms',
    (_name, value) => {
      const texts = [
        ...new Set(
          echoesOf({ value, instead: 'P' }).map(({ bytes }) => `${bytes.toString('latin1')}`),
        ),
      ]
      const body = '-'.repeat(512 * 1024)
      expect(replaced(texts, body).steps).toBeLessThan(2.5 * body.length)
    },
  )
})
