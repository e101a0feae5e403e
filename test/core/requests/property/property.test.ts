/**
 * Whatever happens in whatever order, with hosts that are killed anywhere and a system that lies: once all
 * is quiet, the system holds what the record says. `RUNS=1000` for more, `SEED=7` for one run again.
 */
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Database, openDatabase } from '../../../../runtime/database/database.ts'
import { type EmbeddedDatabase, startEmbedded } from '../../../../runtime/database/embedded.ts'
import { forgetDatabase } from '../../../database/forget.ts'
import { broken } from './judge.ts'
import { clock, createWorld } from './world.ts'

// Pauses pass on the simulated clock.
vi.mock('node:timers/promises', () => ({
  setTimeout: async (ms: number) => {
    clock.nowMs += ms
  },
}))

const RUNS = Number(process.env['RUNS'] ?? 25)
const ONLY = process.env['SEED']
const FIRST = Number(process.env['FIRST'] ?? 1)

let dataDir: string
let server: EmbeddedDatabase
let database: Database

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'keyway-property-'))
  server = await startEmbedded({
    dataDir,
    password: 'p'.repeat(40),
    tell: () => {},
    onLine: () => {},
  })
  database = await openDatabase(server.connection, () => {})
})
afterAll(async () => {
  await database.close()
  await server.stop()
  await forgetDatabase(dataDir)
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10 })
})

async function run(seed: number): Promise<string[]> {
  const world = await createWorld(database.db, database.domainId, seed)
  try {
    await world.create()
    const steps = 5 + world.choose.below(25)
    for (let n = 0; n < steps; n += 1) {
      const both = world.choose.chance(0.3)
      await Promise.all(both ? [world.step(), world.step()] : [world.step()])
    }
    await world.quiet()
    const faults = await broken(world)
    return faults.length === 0 ? [] : [...faults, ...world.story, ...world.system.story]
  } catch (error) {
    return [
      String((error as Error).stack),
      String((error as Error).cause),
      ...world.story,
      ...world.system.story,
    ]
  }
}

const seeds = ONLY ? [Number(ONLY)] : Array.from({ length: RUNS }, (_, n) => FIRST + n)

test(
  'what the system holds is what the record says, whatever happened',
  async () => {
    const failed: string[] = []
    for (const seed of seeds) {
      const faults = await run(seed)
      if (faults.length > 0) failed.push(`SEED=${seed}\n${faults.join('\n')}`)
      if (failed.length >= 3) break
    }
    expect(failed.join('\n\n')).toBe('')
  },
  60_000 + seeds.length * 2000,
)
