/** Reads connector.cases.json: each case on its own, so that one that is wrong hides no other. */
import * as v from 'valibot'
import { Case } from '../contract/cases.ts'
import { nearest } from '../contract/nearest.ts'
import { describeIssue } from '../contract/payload.ts'

export type ReadCases = {
  cases: Case[]
  /** What is wrong, with the name of the case or of the file. */
  findings: { where: string; message: string }[]
  /** Capabilities that somebody wrote a case for, also one that cannot be read. */
  covered: Set<string>
}

const FILE = 'connector.cases.json'

/** The cases of a text; undefined (no file) is none, null says that not even their list can be read. */
export function readCases(text: string | undefined): ReadCases | { unreadable: string } {
  const list = text === undefined ? [] : listOf(text)
  if (typeof list === 'string') return { unreadable: list }
  const read: ReadCases = { cases: [], findings: [], covered: new Set() }
  for (const [index, value] of list.entries()) {
    const { name, capability } = Object(value) as { name?: unknown; capability?: unknown }
    if (typeof capability === 'string') read.covered.add(capability)
    const parsed = v.safeParse(Case, value)
    if (parsed.success) read.cases.push(parsed.output)
    else {
      const where = typeof name === 'string' && name !== '' ? name : `${FILE}, case ${index + 1}`
      read.findings.push(...parsed.issues.map((one) => ({ where, message: toldOf(one) })))
    }
  }
  return read
}

function listOf(text: string): unknown[] | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return `is not JSON: ${(error as Error).message}`
  }
  return Array.isArray(value) ? value : 'must be a list of cases: [{ "name": ... }, ...]'
}

function toldOf(issue: v.BaseIssue<unknown>): string {
  const text = describeIssue(issue)
  if (issue.type !== 'strict_object' || issue.expected !== 'never') return text
  const near = nearest(String(issue.path?.at(-1)?.key), FIELDS)
  return near === null ? text : `${text}; did you mean ${near}?`
}

const FIELDS = Object.keys(Case.entries)
