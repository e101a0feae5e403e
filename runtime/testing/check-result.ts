/** What a check says. Imports nothing: authors get these types, and no more than these. */

/**
 * One thing that was found. An `error` fails the check, a `warning` does not. `where` is the name of a case, a
 * capability or a file; `line` is that of the case in connector.cases.json, from 1.
 */
export type Finding = {
  severity: 'error' | 'warning'
  where: string
  line?: number
  message: string
}

/** What a check says of one folder. */
export type CheckResult = {
  ok: boolean
  id: string | null
  version: string | null
  findings: Finding[]
  /** Names of the cases that passed. */
  passed: string[]
}
