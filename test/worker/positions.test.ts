import { expect, test } from 'vitest'
import { bundlePositions } from '../../runtime/worker/positions.ts'

const script = `${'ab'.repeat(32)}.js`

test('reads only the frames of the bundle', () => {
  const stack = `
    at JSON.parse (<anonymous>)
    at fetch (prelude.js:3:4)
    at list_accounts (${script}:31:12)
    at async ${script}:7:1`
  expect(bundlePositions(stack)).toEqual([
    { line: 31, column: 12 },
    { line: 7, column: 1 },
  ])
})

test.each([
  '',
  `Error: at ${script}:1:2`,
  `\n    at x (${script}:0:1)`,
  `\n    at x (${script}:1:99999999999)`,
  `\n    at x (other.js:1:2)`,
])('finds nothing in %j', (stack) => {
  expect(bundlePositions(stack)).toEqual([])
})

test('reads at most ten frames', () => {
  expect(bundlePositions(`\n    at x (${script}:1:2)`.repeat(50))).toHaveLength(10)
})
