/** Rows of a first listing are expected to be new, and then written without looking for each whether it is there. */
import { isTaken } from '../../database/contention.ts'

/** Whether rows are expected to be new; no longer once one was not. */
export type Expected = { isNew: boolean }

/** Writes rows in a transaction; once more, and looking for each, where one that was expected to be new was there. */
export async function writeExpected<T>(expected: Expected, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!expected.isNew || !isTaken(error)) throw error
    expected.isNew = false
    return write()
  }
}
