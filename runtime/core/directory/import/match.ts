/**
 * Matches rows with users: people_match contains each row with its user, existing or to be created, and its
 * manager. Errors across rows are added to the findings. Addresses are compared by the database's lower(), as
 * in its unique index.
 */
import { type SQL, sql } from 'drizzle-orm'
import { MAX_TOLD } from '../../../contract/models/people-file.ts'
import type { Db } from '../../../database/database.ts'
import { isLeaving } from '../leaving.ts'
import { findCycle } from './cycle.ts'
import { type Findings, shown } from './findings.ts'
import type { Header } from './header.ts'

type Doubled = { line: number; email: string; earlier: number; total: string }
type Managed = { line: number; manager_email: string; total: string }

/** Fills people_match, and finds duplicates, unknown managers and cycles. */
export async function matchPeople(
  tx: Db,
  domainId: string,
  { known }: Header,
  findings: Findings,
): Promise<void> {
  await tellAll(
    tx,
    sql`select line, email, earlier, count(*) over () as total from (
      select line, email, first_value(line) over same as earlier, row_number() over same as n
      from people_file window same as (partition by lower(email) order by line)
    ) as doubled where n > 1 order by line limit ${MAX_TOLD}`,
    ({ line, email, earlier }: Doubled) => [
      line,
      'email',
      `${shown(email)} is already in line ${earlier}; keep one of them`,
    ],
    findings,
  )
  // Two rows of one person cannot be matched with one user each.
  if (findings.total > 0) return
  await tx.execute(sql`
    create temporary table people_id on commit drop as
    select file.line, lower(file.email) as key, users.id is null as is_new,
      coalesce(users.id, gen_random_uuid()) as user_id
    from people_file as file
    left join users on users.domain_id = ${domainId} and lower(users.email) = lower(file.email)`)
  await tx.execute(sql`analyze people_id`)
  await tx.execute(sql`
    create temporary table people_match on commit drop as
    select file.*, own.user_id, own.is_new, coalesce(listed.user_id, there.id) as manager_id
    from people_file as file
    join people_id as own on own.line = file.line
    left join people_id as listed on listed.key = lower(file.manager_email)
    left join users as there
      on there.domain_id = ${domainId} and lower(there.email) = lower(file.manager_email)`)
  await tx.execute(sql`create index on people_match (user_id)`)
  await tx.execute(sql`analyze people_match (line, user_id, manager_id)`)
  await skipOffboardedPeople(tx)
  if (known.manager_email !== undefined) await checkManagers(tx, domainId, findings)
}

/**
 * Drops the new status of people who are being offboarded. It must not change until the offboarding is over.
 */
export async function skipOffboardedPeople(tx: Db): Promise<void> {
  await tx.execute(sql`update people_match set status = null
    where status is not null and not is_new and ${isLeaving(sql`people_match.user_id`)}`)
}

async function checkManagers(tx: Db, domainId: string, findings: Findings): Promise<void> {
  const named = async (which: SQL, problem: (email: string) => string) =>
    tellAll(
      tx,
      sql`select line, manager_email, count(*) over () as total from people_match
        where manager_email <> '' and ${which} order by line limit ${MAX_TOLD}`,
      ({ line, manager_email }: Managed) => [line, 'manager_email', problem(manager_email)],
      findings,
    )
  await named(
    sql`manager_id is null`,
    (email) =>
      `${shown(email)} is neither in the file nor among the users; add a row or empty the cell`,
  )
  await named(
    sql`manager_id = user_id`,
    (email) => `${shown(email)} is the person’s own address; people cannot manage themselves`,
  )
  if (findings.total > 0) return
  const cycle = await findCycle(tx, domainId)
  if (!cycle) return
  const around = cycle.people.map(({ email }) => email).join(' → ')
  const { line } = cycle.people.find((one) => one.line !== null) ?? { line: null }
  findings.add(
    line ?? 1,
    'manager_email',
    `the managers form a cycle: ${around}${cycle.whole ? '' : ' → …'}; change one of them`,
  )
}

async function tellAll<R extends { total: string }>(
  tx: Db,
  question: SQL,
  tell: (row: R) => [line: number, column: string, problem: string],
  findings: Findings,
): Promise<void> {
  // The cast: the query selects the columns that `tell` reads.
  const rows = (await tx.execute(question)).rows as R[]
  for (const [at, row] of rows.entries()) {
    const more = at === rows.length - 1 ? Number(row.total) - rows.length : 0
    findings.add(...tell(row), more)
  }
}
