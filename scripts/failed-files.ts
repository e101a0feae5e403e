/** Which files of tests failed, by the report that vitest writes as JSON. */
import path from 'node:path'

type Report = { testResults: readonly { name: string; status: string }[] }

/**
 * Files to run again by themselves: many tests have time limits and real processes, and a machine with two cores may
 * starve one of them beside two others. More than a few are no accident.
 *
 * @param root what names are relative to
 * @returns none where nothing of it was a file's, or too many failed
 */
export function filesToTryAgain({ testResults }: Report, root: string, most: number): string[] {
  const failed = testResults
    .filter(({ status }) => status === 'failed')
    .map(({ name }) => path.relative(root, name))
  return failed.length <= most ? failed : []
}
