/**
 * drizzle-kit compares the schema with the last snapshot to write the next migration. A difference between
 * them would put unrelated changes into that migration.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { generateDrizzleJson } from 'drizzle-kit/api'
import { expect, test } from 'vitest'

const DATABASE = path.join(import.meta.dirname, '../../runtime/database')
const META = path.join(DATABASE, 'migrations/meta')

test('the snapshot of the last migration matches the schema', async () => {
  const files = readdirSync(path.join(DATABASE, 'schema')).filter((name) => name.endsWith('.ts'))
  const rooms = await Promise.all(files.map((name) => import(path.join(DATABASE, 'schema', name))))
  const { tables } = generateDrizzleJson(Object.assign({}, ...rooms))
  const snapshots = readdirSync(META).filter((name) => name.endsWith('_snapshot.json'))
  // Nothing reads the snapshots of earlier migrations (scripts/last-snapshot.ts).
  expect(snapshots).toHaveLength(1)
  const last = JSON.parse(readFileSync(path.join(META, snapshots[0] ?? ''), 'utf8'))
  expect(last.tables).toEqual(tables)
})
