/** Result of a check. This file imports nothing: authors get these types and no others. */

/**
 * A single finding. An `error` fails the check, a `warning` does not. `where` is the name of a case, a
 * capability or a file. `line` is the line of the case in connector.cases.json, from 1.
 */
export type Finding = {
  severity: 'error' | 'warning'
  where: string
  line?: number
  message: string
}

/** Result of the check of one folder. */
export type CheckResult = {
  ok: boolean
  id: string | null
  version: string | null
  findings: Finding[]
  /** Names of the cases that passed. */
  passed: string[]
}
