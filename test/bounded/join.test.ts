import { expect, test } from 'vitest'
import { joinPieces } from '../../runtime/bounded/join.ts'

/** Pieces of these lengths, with distinguishable contents. */
const piecesOf = (lengths: readonly number[]) =>
  lengths.map((length, at) => Buffer.alloc(length, `${at}-`))

test.each([
  ['no pieces', []],
  ['small pieces', [1, 0, 5]],
  ['one piece of 256 KiB', [256 * 1024]],
  ['one large piece', [3_000_001]],
  ['600 000 pieces of one byte', Array<number>(600_000).fill(1)],
  ['large and small pieces', [1, 700_000, 1, 0, 300_000, 262_144, 2]],
])('joins %s', async (_, lengths) => {
  const pieces = piecesOf(lengths)
  const whole = Buffer.concat(pieces)
  expect((await joinPieces(pieces, whole.length)).equals(whole)).toBe(true)
})

test('few bytes are joined synchronously', () => {
  expect(joinPieces(piecesOf([1, 2]), 3)).toBeInstanceOf(Buffer)
})

test('the event loop runs while many pieces are joined', async () => {
  const pieces = piecesOf(Array<number>(256).fill(65_536))
  let turns = 0
  let joined = false
  const count = () => {
    turns += 1
    if (!joined) setImmediate(count)
  }
  setImmediate(count)
  await joinPieces(pieces, 256 * 65_536)
  joined = true
  expect(turns).toBeGreaterThan(1)
})
