/** Setup file of vitest for each file of tests: closes what helpers have opened. */
import { afterAll, afterEach, expect } from 'vitest'
import { closeBehindFile, closeBehindTest } from './closing.ts'
import { countProcessorTime } from './processor-time.ts'

const note = countProcessorTime()

afterEach(closeBehindTest)
// Hooks run in reverse order: this one is last.
afterAll(async () => {
  await closeBehindFile()
  note(expect.getState().testPath ?? '')
})
