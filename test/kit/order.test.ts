import { existsSync, globSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { APART, SLOWEST } from './order.ts'

const ROOT = path.join(import.meta.dirname, '..', '..')

test('every listed test file exists', () => {
  const named = [...APART, ...SLOWEST]
  expect(named.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([])
  expect(globSync('test/**/*.test.ts', { cwd: ROOT })).toEqual(expect.arrayContaining(named))
})
