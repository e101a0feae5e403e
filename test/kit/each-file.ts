/** For vitest, in front of each file of tests: closes what helpers have opened. */
import { afterAll, afterEach, expect } from 'vitest'
import { closeBehindFile, closeBehindTest } from './closing.ts'
import { countProcessorTime } from './processor-time.ts'

const note = countProcessorTime()

afterEach(closeBehindTest)
// The first is called last.
afterAll(async () => {
  await closeBehindFile()
  note(expect.getState().testPath ?? '')
})
