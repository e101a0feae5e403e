/** Texts from outside, as the database stores them. */
import { expect, it } from 'vitest'
import { keptText } from '../../../runtime/core/kernel/kept-text.ts'

it.each([
  ['as it is', 'short', 5, 'short'],
  ['cut', 'shorter', 5, 'short'],
  ['without half of a pair at the cut', 'four😀', 5, 'four'],
  ['with a pair that ends at the cut', 'abc😀x', 5, 'abc😀'],
  ['without NUL', 'a\u0000b', 5, 'a\ufffdb'],
  ['without halves that came so', 'a\ud83d', 5, 'a\ufffd'],
  ['with a half that stands at the cut already', 'abcd\ud83dx', 5, 'abcd'],
])('a text is stored %s', (_, text, most, kept) => {
  expect(keptText(text, most)).toBe(kept)
})
