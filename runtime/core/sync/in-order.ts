/**
 * Writes batches of a listing in their order, each in a transaction of its own. Rows of a first listing are expected to
 * be new, and then written without looking for each whether it is there. As long as they are, a second connection writes
 * the rows of a batch while those of the one before are written; only its checkpoint waits. From the first row on that
 * was there, one batch is written after the other.
 */
import { isContended, isTaken } from '../../database/contention.ts'

/**
 * Writes a batch. It awaits `before` between its rows and its checkpoint. `isNew`: whether its rows are expected to be new.
 *
 * @throws what `before` throws
 */
type Attempt = (isNew: boolean, before: Promise<void>) => Promise<void>

type InOrder = {
  /**
   * Begins to write a batch; returns once the next one may begin.
   *
   * @throws what this batch threw, or the one before
   */
  write(attempt: Attempt): Promise<void>
  /** Waits until all batches are written. @throws what one of them threw */
  written(): Promise<void>
}

/** A batch: its first attempt, and the one that counts. */
type Batch = { first: Promise<void>; done: Promise<void> }

const NOTHING: Promise<void> = Promise.resolve()

export function writeInOrder({ isNew }: { isNew: boolean }): InOrder {
  let expectsNew = isNew
  let last: Batch = { first: NOTHING, done: NOTHING }

  function begin(attempt: Attempt, before: Batch): Batch {
    const wasNew = expectsNew
    const first = attempt(wasNew, wasNew ? before.first : before.done)
    const done = first.catch(async (error) => {
      // Behind one that could not be written, nothing is.
      await before.done
      if (!wasNew || !(isTaken(error) || isContended(error))) throw error
      expectsNew = false
      return attempt(false, before.done)
    })
    // It is asked for later.
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
