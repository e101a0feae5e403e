/**
 * Everything that must hold, one named step per promise: `npm test`. Arguments go to vitest, and only
 * vitest runs then: `npm test -- test/egress`.
 */
import { spawnSync } from 'node:child_process'
import path from 'node:path'

const ROOT = path.join(import.meta.dirname, '..')

const STEPS: readonly [name: string, command: string, ...args: string[]][] = [
  ['types', 'tsc', '-p', 'tsconfig.json'],
  ['lint and format', 'biome', 'check', '--error-on-warnings', '.'],
  ['generated pages are fresh', 'node', 'scripts/docs.ts', '--check'],
  ['tests', 'vitest', 'run', '--config', 'test/vitest.config.ts'],
]

const given = process.argv.slice(2)
const steps =
  given.length > 0
    ? [['tests', 'vitest', 'run', '--config', 'test/vitest.config.ts', ...given] as const]
    : STEPS

for (const [name, command, ...args] of steps) {
  const begun = Date.now()
  console.log(`\n— ${name}`)
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) {
    console.error(`\n${name}: failed (${command} ${args.join(' ')})`)
    process.exit(status ?? 1)
  }
  console.log(`  ${((Date.now() - begun) / 1000).toFixed(1)} s`)
}
