/** Detection of cycles of managers. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'

type Cycle = {
  /** In the order of reporting. The line is null for a user who is not in the file. */
  people: { email: string; line: number | null }[]
  /** False if the cycle is longer than the people listed. */
  whole: boolean
}

/** Number of people per row of the result. */
const BLOCK = 10_000
/** Maximum number of people of a cycle that are listed. */
const MAX_TOLD = 10

/**
 * Returns the first cycle, or null. Each person has at most one manager, so each is visited once. People are
 * represented by numbers: a million of them take 4 MB.
 */
export async function findCycle(tx: Db, domainId: string): Promise<Cycle | null> {
  // Managers who are not in the file may lead back to people in the file.
  await tx.execute(sql`
    create temporary table people_chain on commit drop as
    with recursive above as (
      select manager_id as id from people_match
      where manager_id is not null and not exists (
        select from people_match as listed where listed.user_id = people_match.manager_id)
      union
      select users.manager_id from users join above on users.id = above.id
      where users.manager_id is not null and users.domain_id = ${domainId}
        and not exists (select from people_match where user_id = users.manager_id)
    ), everybody as (
      select user_id, line, manager_id from people_match
      union all
      select users.id, null, users.manager_id from users join above on users.id = above.id
    )
    select (row_number() over ())::int - 1 as n, * from everybody`)
  await tx.execute(sql`create index on people_chain (n)`)
  await tx.execute(sql`analyze people_chain`)
  const managers = await readManagers(tx)
  const start = inCircle(managers)
  return start === null ? null : describe(tx, managers, start)
}

/** Returns, for each person's number, the number of the manager, or -1 if there is none. */
async function readManagers(tx: Db): Promise<Int32Array> {
  // Read in blocks of one join: a row per person would create a million objects.
  const { rows } = await tx.execute<{ block: number[] }>(sql`
    select array_agg(coalesce(boss.n, -1) order by own.n) as block from people_chain as own
    left join people_chain as boss on boss.user_id = own.manager_id
    group by own.n / ${sql.raw(String(BLOCK))} order by min(own.n)`)
  const blocks = rows.map(({ block }) => block)
  const managers = new Int32Array(blocks.reduce((sum, { length }) => sum + length, 0))
  for (const [at, block] of blocks.entries()) managers.set(block, at * BLOCK)
  return managers
}

/** Returns a user in a cycle, or null. */
function inCircle(managers: Int32Array): number | null {
  /** Walk that first visited each person. A walk that meets itself has found a cycle. */
  const walks = new Int32Array(managers.length).fill(-1)
  for (let walk = 0; walk < managers.length; walk += 1) {
    let at = walk
    while (at !== -1 && walks[at] === -1) {
      walks[at] = walk
      at = managers[at] ?? -1
    }
    if (at !== -1 && walks[at] === walk) return at
  }
  return null
}

async function describe(tx: Db, managers: Int32Array, start: number): Promise<Cycle> {
  const numbers = [start]
  for (let at = managers[start] ?? -1; at !== start; at = managers[at] ?? -1) numbers.push(at)
  const told = numbers.slice(0, MAX_TOLD)
  const { rows } = await tx.execute<{ n: number; line: number | null; email: string }>(sql`
    select chain.n, chain.line, coalesce(people_match.email, users.email) as email
    from people_chain as chain
    left join people_match on people_match.user_id = chain.user_id
    left join users on users.id = chain.user_id
    where chain.n in (${sql.join(
      told.map((n) => sql`${n}`),
      sql`, `,
    )})`)
  const found = new Map(rows.map((row) => [row.n, row]))
  const people = told.flatMap((n) => found.get(n) ?? [])
  return {
    people: numbers.length === told.length ? [...people, ...people.slice(0, 1)] : people,
    whole: numbers.length === told.length,
  }
}
