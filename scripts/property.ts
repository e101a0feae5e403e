/**
 * Runs property tests with many random inputs: `npm run property` for a thousand access requests,
 * `npm run property -- history` for the history of access over ten thousand spans. A number sets another
 * count, `SEED=7` another history.
 */
import { spawnSync } from 'node:child_process'
import path from 'node:path'

/** PROPERTIES: name -> its tests, the variable of their count, and its default. */
const PROPERTIES = {
  requests: { tests: 'test/core/requests/property', count: 'RUNS', usual: '1000' },
  history: { tests: 'test/core/history/as-of.test.ts', count: 'SPANS', usual: '10000' },
} as const

const given = process.argv.slice(2)
const isHistory = given.includes('history')
const { tests, count, usual } = PROPERTIES[isHistory ? 'history' : 'requests']
const number = given.find((one) => /^\d+$/.test(one)) ?? usual
const { status } = spawnSync('vitest', ['run', '--config', 'test/vitest.config.ts', tests], {
  cwd: path.join(import.meta.dirname, '..'),
  stdio: 'inherit',
  env: { ...process.env, [count]: number },
})
process.exit(status ?? 1)
