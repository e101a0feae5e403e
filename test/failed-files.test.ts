import { expect, test } from 'vitest'
import { filesToTryAgain } from '../scripts/failed-files.ts'

const report = {
  testResults: [
    { name: '/keyway/test/a.test.ts', status: 'passed' },
    { name: '/keyway/test/b.test.ts', status: 'failed' },
    { name: '/keyway/test/c/d.test.ts', status: 'failed' },
  ],
}

test('a few files that failed are run again, named from the root', () => {
  expect(filesToTryAgain(report, '/keyway', 2)).toEqual(['test/b.test.ts', 'test/c/d.test.ts'])
})

test('more than a few are a failure at once, and so is a run in which no file failed', () => {
  expect(filesToTryAgain(report, '/keyway', 1)).toEqual([])
  expect(filesToTryAgain({ testResults: [] }, '/keyway', 5)).toEqual([])
})
