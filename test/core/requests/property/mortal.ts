/** The database as seen by a host that may be killed at any statement. */
import { drizzle } from 'drizzle-orm/node-postgres'
import type { Pool, PoolClient } from 'pg'
import type { Db } from '../../../../runtime/database/database.ts'
import type { Random } from './random.ts'
import { Killed } from './system.ts'

/** The life of a host, which ends at its n-th step. A step is a statement or a call. */
export type Life = { at(what: string): void; readonly dead: boolean; readonly steps: number }

export function createLife(lastStep: number): Life {
  let steps = 0
  return {
    at(what) {
      steps += 1
      if (steps >= lastStep) throw new Killed(what)
    },
    get dead() {
      return steps >= lastStep
    },
    get steps() {
      return steps
    },
  }
}

/** Each statement is a step, taken before or after it. The connections of a dead host are closed. */
export function killableDb(pool: Pool, self: Life, choose: Random): Db {
  const queryInSteps =
    (query: (...args: never[]) => unknown) =>
    async (...args: never[]): Promise<unknown> => {
      const isAfter = choose.chance(0.5)
      if (!isAfter || self.dead) self.at('before a statement')
      const answer = await query(...args)
      if (isAfter) self.at('after a statement')
      return answer
    }
  const wrapClient = (client: PoolClient): PoolClient =>
    new Proxy(client, {
      get(target, name) {
        // The cast: a bound overload keeps only its last signature.
        if (name === 'query') return queryInSteps(target.query.bind(target) as never)
        if (name === 'release') return (fault?: unknown) => target.release(self.dead || !!fault)
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  const wrapped = new Proxy(pool, {
    get(target, name) {
      // The cast: as above.
      if (name === 'query') return queryInSteps(target.query.bind(target) as never)
      if (name === 'connect') return async () => wrapClient(await target.connect())
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const db = Object.assign(drizzle(wrapped), { $client: wrapped }) as unknown as Db
  // As in database.ts: the connection is released even when `begin` fails.
  db.transaction = async (work, config) => {
    const client = wrapClient(await pool.connect())
    try {
      return await drizzle(client).transaction(work, config)
    } finally {
      client.release()
    }
  }
  return db
}
