import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { APART, FILES, SLOWEST } from './order.ts'

const ROOT = path.join(import.meta.dirname, '..', '..')

test('every file of tests that is named is there', () => {
  const named = [...APART, ...SLOWEST]
  expect(named.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([])
  expect(FILES).toEqual(expect.arrayContaining([...APART, ...SLOWEST]))
})
