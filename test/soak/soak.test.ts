/** The short forms of what `npm run soak` does for half an hour, on a machine that does other things too. */
import path from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../kit/program.ts'

const SOAK = path.join(import.meta.dirname, 'soak.ts')

test.runIf(process.platform === 'linux')(
  'mixed traffic with hostile calls in it: right answers, in time, and nothing grows',
  async () => {
    const said = await runProgram(SOAK, { SECONDS: '6', RATE: '12', LATE_MS: '3000' })
    expect(said).not.toContain('WRONG')
    expect(said).toContain('nothing is wrong')
  },
  180_000,
)

test.runIf(process.platform === 'linux')(
  'some thousand lists by 32 callers: one isolate, and no growth',
  async () => {
    const run = () => runProgram(SOAK, { CALLS: '1500' }, '--lists')
    let said = await run()
    // A slice that other programs hold up is cut with its isolate: then it is tried again.
    for (let more = 2; more > 0 && !said.includes(': 1 isolates'); more -= 1) said = await run()
    expect(said).toContain(': 1 isolates')
    expect(said).toContain('nothing is wrong')
  },
  240_000,
)
