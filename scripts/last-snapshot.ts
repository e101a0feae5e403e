/**
 * After a migration is written (`npm run migration`): removes all snapshots of the schema but the last, which is the only
 * one that drizzle-kit compares the next migration with. Each is ten thousand lines that nobody reads.
 */
import { readdirSync, rmSync } from 'node:fs'
import path from 'node:path'

const META = path.join(import.meta.dirname, '../runtime/database/migrations/meta')

const older = readdirSync(META)
  .filter((name) => name.endsWith('_snapshot.json'))
  .sort()
  .slice(0, -1)
for (const name of older) rmSync(path.join(META, name))
