/** A short form of what `npm run faults` does with every fault for fifteen seconds. */
import path from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../kit/program.ts'

const PROGRAM = path.join(import.meta.dirname, 'faults.ts')

test.runIf(process.platform === 'linux')(
  "an outage, alone or together with the database's, loses nothing and needs no manual work",
  async () => {
    const output = await runProgram(PROGRAM, { FAULTS: 'short', LAST_MS: '4000' })
    expect(output).not.toContain('WRONG')
    expect(output).toContain('nothing is wrong')
  },
  300_000,
)
