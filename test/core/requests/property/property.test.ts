/**
 * Random actions in random order, with hosts that are killed anywhere and a system that lies: once no work is
 * pending, the system matches the record. `RUNS=1000` for more runs, `SEED=7` to repeat one run.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ErrorCode } from '../../../../runtime/contract/errors/error-codes.ts'
import { FAULTS } from '../../../../runtime/core/kernel/faults.ts'
import type { Database } from '../../../../runtime/database/database.ts'
import { openDatabase } from '../../../../runtime/database/open.ts'
import { openTestDatabase, type TestDatabase } from '../../../kit/databases.ts'
import { broken } from './judge.ts'
import { clock, createWorld, HOUR_MS } from './world.ts'

// Timers advance the simulated clock.
vi.mock('node:timers/promises', () => ({
  setTimeout: async (ms: number) => {
    clock.nowMs += ms
  },
}))

const RUNS = Number(process.env['RUNS'] ?? 25)
const ONLY = process.env['SEED']
const FIRST = Number(process.env['FIRST'] ?? 1)
/** Runs between two reports of progress. */
const REPORT_EVERY = 100

let made: TestDatabase
let database: Database

beforeAll(async () => {
  made = await openTestDatabase()
  database = await openDatabase({ connectionString: made.url }, () => {})
})
afterAll(async () => {
  await database.close()
  await made.drop()
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

/** The error codes that an outage can produce. */
const FAILS = (Object.keys(FAULTS) as ErrorCode[]).filter((code) => code !== 'not_found')
const DAYS_3_MS = 3 * 24 * HOUR_MS

/** An outage of random length and kind over requests in any state, without any manual work. */
async function outageRun(seed: number): Promise<string[]> {
  const world = await createWorld(database.db, database.domainId, 100_000 + seed)
  const { choose } = world
  try {
    for (let n = 1 + choose.below(4); n > 0; n -= 1) await world.create(true)
    for (let n = choose.below(6); n > 0; n -= 1) await world.work(false)
    // Between one second and three days, on a logarithmic scale.
    const lengthMs = Math.round(1000 * (DAYS_3_MS / 1000) ** (choose.below(1001) / 1000))
    const asks = choose.chance(0.3) ? { retryAfterMs: choose.one([1000, 60_000, HOUR_MS]) } : {}
    await world.outage({ code: choose.one(FAILS), ...asks }, lengthMs)
    await world.quiet()
    const faults = await broken(world)
    const left = await world.openTasks()
    for (const { taskType, description } of left) faults.push(`${taskType}: ${description}`)
    return faults.length === 0 ? [] : [...faults, ...world.story, ...world.system.story]
  } catch (error) {
    return [String((error as Error).stack), ...world.story, ...world.system.story]
  }
}

const seeds = ONLY ? [Number(ONLY)] : Array.from({ length: RUNS }, (_, n) => FIRST + n)

test.each([
  ['after random faults, the system holds exactly the recorded access', run],
  ['after an outage, the system holds exactly the recorded access, without manual work', outageRun],
])(
  '%s',
  async (name, one) => {
    const failed: string[] = []
    for (const [n, seed] of seeds.entries()) {
      if (n > 0 && n % REPORT_EVERY === 0) console.log(`${n} of ${seeds.length} runs: ${name}`)
      const faults = await one(seed)
      if (faults.length > 0) failed.push(`SEED=${seed}\n${faults.join('\n')}`)
      if (failed.length >= 3) break
    }
    expect(failed.join('\n\n')).toBe('')
  },
  60_000 + seeds.length * 2000,
)
