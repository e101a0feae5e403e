/** A thousand random runs of access requests: `npm run property`; a number for more or fewer. */
import { spawnSync } from 'node:child_process'
import path from 'node:path'

const [runs = '1000'] = process.argv.slice(2)
const { status } = spawnSync(
  'vitest',
  ['run', '--config', 'test/vitest.config.ts', 'test/core/requests/property'],
  {
    cwd: path.join(import.meta.dirname, '..'),
    stdio: 'inherit',
    env: { ...process.env, RUNS: runs },
  },
)
process.exit(status ?? 1)
