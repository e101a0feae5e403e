/**
 * What helpers open is closed behind the test, or the file of tests, that it was opened in. Test files may share one
 * process and its modules, so a hook at the top of a helper would run for the first of them only: each-file.ts has them.
 */

type Close = () => unknown

const afterTest: Close[] = []
const afterFile: Close[] = []

/** Has something closed behind the running test. */
export const behindTest = (close: Close): void => void afterTest.push(close)

/** Has something closed behind the running file of tests. */
export const behindFile = (close: Close): void => void afterFile.push(close)

/** Closes what was opened last first, all of it; throws the first error. */
async function closeAll(opened: Close[]): Promise<void> {
  const errors: unknown[] = []
  for (const close of opened.splice(0).reverse()) {
    try {
      await close()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}

export const closeBehindTest = (): Promise<void> => closeAll(afterTest)
export const closeBehindFile = (): Promise<void> => closeAll(afterFile)
