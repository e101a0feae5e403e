/** Short forms of what `npm run soak` does for half an hour, with limits for a busy machine. */
import path from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../kit/program.ts'

const SOAK = path.join(import.meta.dirname, 'soak.ts')

test.runIf(process.platform === 'linux')(
  'mixed traffic with hostile calls gets right answers in time, and no resource grows',
  async () => {
    const output = await runProgram(SOAK, { SECONDS: '6', RATE: '12', LATE_MS: '3000' })
    expect(output).not.toContain('WRONG')
    expect(output).toContain('nothing is wrong')
  },
  180_000,
)

test.runIf(process.platform === 'linux')(
  '1,500 lists by 32 callers use one isolate, and no memory grows',
  async () => {
    const run = () => runProgram(SOAK, { CALLS: '1500' }, '--lists')
    let said = await run()
    // If other programs delay a slice, its isolate is ended: then the run is repeated.
    for (let more = 2; more > 0 && !said.includes(': 1 isolates'); more -= 1) said = await run()
    expect(said).toContain(': 1 isolates')
    expect(said).toContain('nothing is wrong')
  },
  240_000,
)
