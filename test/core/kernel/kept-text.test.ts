/** Texts from outside, as the database stores them. */
import { expect, it } from 'vitest'
import { keptText } from '../../../runtime/core/kernel/kept-text.ts'

it.each([
  ['unchanged if it fits', 'short', 5, 'short'],
  ['truncated if it is too long', 'shorter', 5, 'short'],
  ['without the first half of a surrogate pair at the limit', 'four😀', 5, 'four'],
  ['with a surrogate pair that ends at the limit', 'abc😀x', 5, 'abc😀'],
  ['without NUL', 'a\u0000b', 5, 'a\ufffdb'],
  ['without a lone surrogate', 'a\ud83d', 5, 'a\ufffd'],
  ['without a lone surrogate at the limit', 'abcd\ud83dx', 5, 'abcd'],
])('a text is stored %s', (_, text, most, kept) => {
  expect(keptText(text, most)).toBe(kept)
})
