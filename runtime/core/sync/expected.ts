/** Rows of a first listing are expected to be new, and then written without looking for each whether it is there. */
import { isTaken } from '../../database/contention.ts'
import type { Db } from '../../database/database.ts'

/** Whether rows are expected to be new; no longer once one was not. */
export type Expected = { isNew: boolean }

/** Inserts rows that are expected to be new; null, with nothing done, where they are not. */
export async function insertNew<T>(
  tx: Db,
  expected: Expected | undefined,
  insert: (tx: Db) => Promise<T>,
): Promise<T | null> {
  if (!expected?.isNew) return null
  try {
    return await tx.transaction(insert)
  } catch (error) {
    if (!isTaken(error)) throw error
    expected.isNew = false
    return null
  }
}
