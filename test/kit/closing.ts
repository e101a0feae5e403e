/**
 * Closes what helpers open after the test, or the file of tests, in which it was opened. Test files may share
 * one process and its modules, so a hook at the top of a helper would only run for the first of them. The
 * hooks are in each-file.ts.
 */

type Close = () => unknown

const afterTest: Close[] = []
const afterFile: Close[] = []

/** Registers a function to be called after the running test. */
export const afterThisTest = (close: Close): void => void afterTest.push(close)

/** Registers a function to be called after the running file of tests. */
export const afterThisFile = (close: Close): void => void afterFile.push(close)

/** Calls all functions, the last registered first. Throws the first error. */
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
