/**
 * Properties in many random runs: `npm run property` for a thousand of access requests, `npm run property -- history`
 * for what was held when, over ten thousand spans; a number for more or fewer, `SEED=7` for others of history.
 */
import { spawnSync } from 'node:child_process'
import path from 'node:path'

/** PROPERTIES: name -> its tests, what says how many, and how many where nothing is said. */
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
