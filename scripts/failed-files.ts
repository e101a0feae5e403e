/** Finds the failed test files in the report that vitest writes as JSON. */
import path from 'node:path'

type Report = { testResults: readonly { name: string; status: string }[] }

/**
 * Returns the files to run again by themselves: many tests have time limits and real processes, and a machine
 * with two cores may starve one of them next to two others. More than a few failures are no accident.
 *
 * @param root folder to which names are relative
 * @param most maximum number of files
 * @returns none if no file failed, or if too many did
 */
export function filesToTryAgain({ testResults }: Report, root: string, most: number): string[] {
  const failed = testResults
    .filter(({ status }) => status === 'failed')
    .map(({ name }) => path.relative(root, name))
  return failed.length <= most ? failed : []
}
