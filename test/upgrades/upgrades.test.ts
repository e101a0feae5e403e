/** A short form of what `npm run upgrades` does with ten thousand calls and a hundred changes. */
import path from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../kit/program.ts'

const UPGRADES = path.join(import.meta.dirname, 'upgrades.ts')

test.runIf(process.platform === 'linux')(
  'upgrades, rollbacks, grants and killed workers on three hosts fail no call and break no page sequence',
  async () => {
    const output = await runProgram(UPGRADES, { CHANGES: '6', CALLS: '200', RATE: '30' })
    expect(output).not.toContain('WRONG')
    expect(output).toContain('nothing is wrong')
  },
  240_000,
)
