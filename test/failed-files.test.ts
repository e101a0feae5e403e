import { expect, test } from 'vitest'
import { filesToTryAgain } from '../scripts/failed-files.ts'

const report = {
  testResults: [
    { name: '/keyway/test/a.test.ts', status: 'passed' },
    { name: '/keyway/test/b.test.ts', status: 'failed' },
    { name: '/keyway/test/c/d.test.ts', status: 'failed' },
  ],
}

test('a few failed files are run again, with paths relative to the root', () => {
  expect(filesToTryAgain(report, '/keyway', 2)).toEqual(['test/b.test.ts', 'test/c/d.test.ts'])
})

test('no file is run again if too many files failed, or none', () => {
  expect(filesToTryAgain(report, '/keyway', 1)).toEqual([])
  expect(filesToTryAgain({ testResults: [] }, '/keyway', 5)).toEqual([])
})
