/** Tells a change of the folder once: the types file that it has written is a change, too, and says the same again. */

/** How long the change that the types file makes is waited for, in milliseconds. */
const OWN_CHANGE_MS = 3000

/**
 * `refresh` writes the file where it is not up to date, and answers whether it did; `tell` is called for the latest
 * of the changes that come together.
 */
export function afterTypes<Rows>(
  refresh: () => Promise<boolean>,
  tell: (rows: Rows) => void,
): (rows: Rows) => Promise<void> {
  let latest = 0
  let waiting: NodeJS.Timeout | undefined
  return async (rows) => {
    latest += 1
    const turn = latest
    clearTimeout(waiting)
    const written = await refresh()
    // A later change tells what has become of the folder.
    if (turn !== latest) return
    if (!written) return tell(rows)
    waiting = setTimeout(() => tell(rows), OWN_CHANGE_MS).unref()
  }
}
