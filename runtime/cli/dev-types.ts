/**
 * Reports a change of the folder once: writing the types file is itself a change, which would repeat the
 * report.
 */

/**
 * Time to wait for the change that writing the types file causes, in milliseconds. The wait is repeated while
 * the folder is being read.
 */
const OWN_CHANGE_MS = 3000

/**
 * Returns a function to call for each change.
 *
 * @param refresh Writes the file if it is not up to date, and reports whether it did.
 * @param tell Called for the last of several changes in quick succession.
 * @param isReading Reports whether the folder is being read because of a change that is not reported yet.
 */
export function afterTypes<Rows>(
  refresh: () => Promise<boolean>,
  tell: (rows: Rows) => void,
  isReading: () => boolean,
): (rows: Rows) => Promise<void> {
  let latest = 0
  let waiting: NodeJS.Timeout | undefined
  return async (rows) => {
    latest += 1
    const turn = latest
    clearTimeout(waiting)
    const written = await refresh()
    // A later change reports the state of the folder.
    if (turn !== latest) return
    if (!written) return tell(rows)
    const wait = () => {
      waiting = setTimeout(() => (isReading() ? wait() : tell(rows)), OWN_CHANGE_MS).unref()
    }
    wait()
  }
}
