/** Imports people from a file, completely or not at all. */
import { sql } from 'drizzle-orm'
import { conflict } from '../../../contract/errors/problem.ts'
import type { PeopleDifference } from '../../../contract/models/people-file.ts'
import { isTaken, NO_RETRY } from '../../../database/contention.ts'
import type { Db } from '../../../database/database.ts'
import { tryLockUntilEnd } from '../../../database/locks.ts'
import { type Actor, recordActivity } from '../../kernel/audit/activity.ts'
import { type Listeners, MANY_USERS } from '../../kernel/context/listeners.ts'
import { requireRemainingAdmin } from '../admins.ts'
import { applyPeople, changedMeanwhile, lockChanged } from './apply.ts'
import { comparePeople, summarizeDifference } from './compare.ts'
import { createFindings, type Findings } from './findings.ts'
import { type Header, readHeader } from './header.ts'
import { UnreadableError } from './lines.ts'
import { matchPeople } from './match.ts'
import { readRecords } from './records.ts'
import { readRow } from './row.ts'
import { createStage, makeStage } from './stage.ts'

/** Maximum duration of a single statement, in milliseconds. One statement compares a million people. */
const STATEMENT_MS = 600_000

type ImportOptions = {
  /** Compares only. */
  dryRun: boolean
  /** For the activity log. Empty if unknown. */
  fileName: string
  /** Notified of the users that changed. */
  listeners: Pick<Listeners, 'usersChanged'>
}

/**
 * Reads a CSV file, compares it with the existing people and, unless it is a dry run, applies the
 * differences. Nobody is removed or suspended for not being in the file.
 *
 * @throws FileError with the errors of the file
 * @throws CoreError `conflict` if another import is running, or if it would suspend the last admin
 */
export async function importPeople(
  db: Db,
  actor: Actor,
  chunks: AsyncIterable<Uint8Array>,
  { dryRun, fileName, listeners }: ImportOptions,
): Promise<PeopleDifference> {
  const { domainId } = actor
  return db.transaction(async (tx) => {
    await tx.execute(sql`select set_config('statement_timeout', ${String(STATEMENT_MS)}, true),
      set_config('work_mem', '64MB', true)`)
    await takeTurn(tx)
    const findings = createFindings()
    const header = await stageFile(tx, chunks, findings)
    await matchPeople(tx, domainId, header, findings)
    findings.settle()
    await comparePeople(tx, domainId, dryRun)
    const difference = { dry_run: dryRun, ...(await summarizeDifference(tx)) }
    // Lock people before roles, as everywhere else. Otherwise this could deadlock with a push that
    // deactivates somebody.
    if (!dryRun) await lockChanged(tx)
    await requireRemainingAdmin(tx, domainId, await suspendedBy(tx))
    if (dryRun) return difference
    await applyPeople(tx, domainId).catch(overtaken)
    await listeners.usersChanged(tx, domainId, await changedUsers(tx), null)
    const { rows, added, changed, groups_made, memberships_added, memberships_removed } = difference
    await recordActivity(tx, actor, 'PEOPLE_IMPORTED', [], {
      ...{ file_name: fileName, rows, added, changed },
      ...{ groups_made, memberships_added, memberships_removed },
    })
    return difference
  }, NO_RETRY)
}

/**
 * Takes the import lock: two concurrent imports would each compare with rows that the other is about to
 * change.
 */
async function takeTurn(tx: Db): Promise<void> {
  const { rows } = await tx.execute(tryLockUntilEnd('importing people'))
  if (rows[0]?.['got'] !== true)
    throw conflict('Another import is running; try again when it has finished')
}

async function stageFile(
  tx: Db,
  chunks: AsyncIterable<Uint8Array>,
  findings: Findings,
): Promise<Header> {
  await makeStage(tx)
  const stage = createStage(tx)
  let header: Header | null = null
  try {
    for await (const record of readRecords(chunks)) {
      if (header) {
        const row = readRow(record, header, findings)
        if (row) await stage.add(row)
      } else {
        header = readHeader(record.cells, record.line, findings)
        findings.settle()
      }
    }
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    findings.add(error.line, null, error.message)
    findings.settle()
  }
  if (header === null) {
    findings.add(1, null, 'is missing: the file is empty; its first line must name the columns')
    return findings.refuse()
  }
  await stage.end()
  return header
}

/** Returns the admins that the file suspends. Empty if another admin in the file can sign in. */
async function suspendedBy(tx: Db): Promise<Set<string>> {
  const { rows } = await tx.execute<{ user_id: string; status: string }>(sql`
    select people_match.user_id, people_match.status from people_match
    join user_roles on user_roles.user_id = people_match.user_id and user_roles.role = 'Admin'
    where people_match.status is not null`)
  const leaving = rows.filter(({ status }) => status === 'SUSPENDED' || status === 'INACTIVE')
  return new Set(leaving.length < rows.length ? [] : leaving.map(({ user_id }) => user_id))
}

/** Returns the users that the file adds or changes, up to one more than are processed one by one. */
async function changedUsers(tx: Db): Promise<string[]> {
  const { rows } = await tx.execute<{ user_id: string }>(sql`
    select user_id from people_change where is_new or fields <> '{}' limit ${MANY_USERS + 1}`)
  return rows.map(({ user_id }) => user_id)
}

/** Another caller created a user of the file between the comparison and the write. */
function overtaken(error: unknown): never {
  if (isTaken(error)) throw changedMeanwhile()
  throw error
}
