/** What drizzle-kit compares the next migration with is the schema: else that migration would hold a change nobody made. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { generateDrizzleJson } from 'drizzle-kit/api'
import { expect, test } from 'vitest'

const DATABASE = path.join(import.meta.dirname, '../../runtime/database')
const META = path.join(DATABASE, 'migrations/meta')

test('the snapshot of the last migration is the schema', async () => {
  const files = readdirSync(path.join(DATABASE, 'schema')).filter((name) => name.endsWith('.ts'))
  const rooms = await Promise.all(files.map((name) => import(path.join(DATABASE, 'schema', name))))
  const { tables } = generateDrizzleJson(Object.assign({}, ...rooms))
  const snapshots = readdirSync(META).filter((name) => name.endsWith('_snapshot.json'))
  // Of the migrations before, nothing reads it (scripts/last-snapshot.ts).
  expect(snapshots).toHaveLength(1)
  const last = JSON.parse(readFileSync(path.join(META, snapshots[0] ?? ''), 'utf8'))
  expect(last.tables).toEqual(tables)
})
