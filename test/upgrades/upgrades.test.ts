/** The short form of what `npm run upgrades` does with ten thousand calls and a hundred changes. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { expect, test } from 'vitest'

const UPGRADES = path.join(import.meta.dirname, 'upgrades.ts')

function run(env: Record<string, string>): Promise<string> {
  const { PATH = '', HOME = '' } = process.env
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--no-warnings', UPGRADES],
      { env: { PATH, HOME, ...env } },
      (_error, out, errors) => resolve(out + errors),
    )
  })
}

test.runIf(process.platform === 'linux')(
  'upgrades, rollbacks, grants and killed workers on three hosts fail no call and tear no page sequence',
  async () => {
    const said = await run({ CHANGES: '15', CALLS: '600', RATE: '30' })
    expect(said).not.toContain('WRONG')
    expect(said).toContain('nothing is wrong')
  },
  240_000,
)
