/**
 * Runs after a migration is written (`npm run migration`). Removes all snapshots of the schema but the last,
 * the only one that drizzle-kit compares with the next migration. Each has ten thousand lines.
 */
import { readdirSync, rmSync } from 'node:fs'
import path from 'node:path'

const META = path.join(import.meta.dirname, '../runtime/database/migrations/meta')

const older = readdirSync(META)
  .filter((name) => name.endsWith('_snapshot.json'))
  .sort()
  .slice(0, -1)
for (const name of older) rmSync(path.join(META, name))
