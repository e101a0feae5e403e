import { expect, test } from 'vitest'
import { differences } from './differential.ts'

test('random connections get the same answers as from node:http alone, byte for byte', async () => {
  const { found, usual } = await differences(1500, 1)
  expect(found).toEqual([])
  expect(usual).toBeGreaterThan(300)
})
