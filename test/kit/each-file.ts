/** For vitest, in front of each file of tests: closes what helpers have opened. */
import { afterAll, afterEach } from 'vitest'
import { closeBehindFile, closeBehindTest } from './closing.ts'

afterEach(closeBehindTest)
afterAll(closeBehindFile)
