/**
 * Writes batches of a listing in order, each in its own transaction. Rows of a first listing are expected to
 * be new and are inserted without checking for existing ones. As long as that holds, a second connection
 * writes the rows of the next batch in parallel, and only its checkpoint waits. From the first existing row
 * on, batches are written one after the other.
 */
import { isContended, isTaken } from '../../database/contention.ts'

/**
 * Writes a batch. Awaits `before` between its rows and its checkpoint. `isNew` tells whether its rows are
 * expected to be new.
 *
 * @throws the error of `before`
 */
type Attempt = (isNew: boolean, before: Promise<void>) => Promise<void>

type InOrder = {
  /**
   * Starts writing a batch. Resolves when the next one may start.
   *
   * @throws the error of this batch or of the one before
   */
  write(attempt: Attempt): Promise<void>
  /** Waits until all batches are written. @throws the error of any of them */
  written(): Promise<void>
}

/** A batch: its first attempt, and its final result. */
type Batch = { first: Promise<void>; done: Promise<void> }

const NOTHING: Promise<void> = Promise.resolve()

/** Creates a writer of batches. */
export function writeInOrder({ isNew }: { isNew: boolean }): InOrder {
  let expectsNew = isNew
  let last: Batch = { first: NOTHING, done: NOTHING }

  function begin(attempt: Attempt, before: Batch): Batch {
    const wasNew = expectsNew
    const first = attempt(wasNew, wasNew ? before.first : before.done)
    const done = first.catch(async (error) => {
      // Nothing is written after a batch that failed.
      await before.done
      if (!wasNew || !(isTaken(error) || isContended(error))) throw error
      expectsNew = false
      return attempt(false, before.done)
    })
    // The result is awaited later. This prevents an unhandled rejection.
    done.catch(() => {})
    return { first, done }
  }

  return {
    async write(attempt) {
      const before = last
      last = begin(attempt, before)
      await before.done
      if (!expectsNew) await last.done
    },
    written: () => last.done,
  }
}
