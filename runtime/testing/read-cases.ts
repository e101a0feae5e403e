/** Reads connector.cases.json. Each case is read separately, so that one invalid case hides no other. */

import * as v from 'valibot'
import { atOnce, inSlices } from '../bounded/slices.ts'
import { Case, CaseFileHead } from '../contract/connector/cases.ts'
import { describeIssue } from '../contract/connector/payload.ts'
import { messageOf } from '../contract/errors/thrown.ts'
import { INPUTS } from '../contract/limits/inputs.ts'
import { marksIn } from '../contract/limits/reply-limits.ts'
import { misplacedArrays } from '../contract/schema/misplaced-arrays.ts'
import { placeAt } from '../contract/schema/place.ts'
import { membersOf } from '../contract/schema/record.ts'
import type { AnySchema } from '../contract/schema/shape.ts'
import { expandCase, type Shared } from './expand-case.ts'

type ReadCases = {
  cases: Case[]
  /** Findings, with the name of the case or of the file. */
  findings: { where: string; message: string }[]
  /** Capabilities with a case, including cases that cannot be read. */
  covered: Set<string>
}

/** Name of the file, also in findings. */
export const CASES_FILE = 'connector.cases.json'

/**
 * Returns the cases of a text, none for undefined (no file). `unreadable` is the reason why not even their
 * list can be read.
 */
export const readCases = (text: string | undefined): ReadCases | { unreadable: string } =>
  atOnce(reading(text))

/** Reads the cases in time slices, for use on the main thread of a host. */
export const readCasesInSlices = (
  text: string | undefined,
): Promise<ReadCases | { unreadable: string }> => inSlices(reading(text))

function* reading(text: string | undefined): Generator<void, ReadCases | { unreadable: string }> {
  const file = text === undefined ? { shared: {}, cases: [] } : fileOf(text)
  if ('unreadable' in file) return file
  const read: ReadCases = { cases: [], findings: [], covered: new Set() }
  const sizes = new Map(
    Object.entries(file.shared.exchanges ?? {}).map(([name, one]) => [name, sizeOf(one)]),
  )
  let left = INPUTS.cases.maxMarks
  for (const [index, value] of file.cases.entries()) {
    yield
    // Checked before expansion: a short file can refer to a large exchange thousands of times.
    for (const name of namedIn(value)) left -= sizes.get(name) ?? 0
    if (left < 0) return { unreadable: TOO_MANY }
    const { name, capability } = membersOf(value)
    if (typeof capability === 'string') read.covered.add(capability)
    const where =
      typeof name === 'string' && name !== '' ? name : `${CASES_FILE}, case ${index + 1}`
    const expanded = expandCase(value, file.shared)
    const lists = listsIn(Case, expanded.value)
    const parsed = v.safeParse(Case, expanded.value)
    const issues = (parsed.issues ?? []).map((one) => messageOfIssue(one, Case))
    // Issues inside a list that should be an object are its consequence.
    const messages = [...expanded.findings, ...(lists.length > 0 ? lists : issues)]
    if (parsed.success && messages.length === 0) read.cases.push(parsed.output)
    read.findings.push(...messages.map((message) => ({ where, message })))
  }
  return read
}

/** Returns the file's cases as written, and their shared parts. */
export function fileOf(
  text: string,
): { shared: Shared; cases: unknown[] } | { unreadable: string } {
  const { maxMarks } = INPUTS.cases
  if (marksIn(Buffer.from(text), maxMarks) > maxMarks) return { unreadable: TOO_MANY }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { unreadable: `is not JSON: ${messageOf(error)}` }
  }
  if (Array.isArray(value)) return { shared: {}, cases: value }
  const lists = listsIn(FileShape, value)
  if (lists.length > 0) return { unreadable: lists.join('; ') }
  const { success, output, issues } = v.safeParse(FileShape, value)
  if (success) {
    // As written: defaults provide what the exchanges leave out.
    const exchanges = membersOf(membersOf(value)['exchanges'])
    return { shared: { defaults: output.defaults, exchanges }, cases: output.cases }
  }
  if (typeof value !== 'object' || value === null || !('cases' in value))
    return {
      unreadable:
        'must be a list of cases: [{ "name": ... }, ...], or { "defaults": ..., "cases": [...] }',
    }
  return { unreadable: issues.map((one) => messageOfIssue(one, FileShape)).join('; ') }
}

const TOO_MANY = `has more than ${INPUTS.cases.maxMarks / 2} values after shared parts are filled in; shorten the replies`

/** Returns the number of structural characters of a shared exchange. */
const sizeOf = (one: unknown): number =>
  marksIn(Buffer.from(JSON.stringify(one) ?? ''), INPUTS.cases.maxMarks)

/** Returns the names of the exchanges that a case refers to, with duplicates. */
function namedIn(value: unknown): string[] {
  const { upstream, pages } = membersOf(value)
  const inPages = Array.isArray(pages) ? pages.map((page) => Object(page).upstream) : []
  return [upstream, ...inPages]
    .filter((list) => Array.isArray(list))
    .flat()
    .filter((one) => typeof one === 'string')
}

/** Cases are judged one by one, after their shared parts have been filled in. */
const FileShape = v.strictObject({ ...CaseFileHead, cases: v.array(v.unknown()) })

/** Returns a finding for each list in place of an object. */
const listsIn = (schema: AnySchema, value: unknown): string[] =>
  misplacedArrays(schema, value).map(
    ({ path }) => `${path.length === 0 ? '' : `${placeAt(path)}: `}found a list; write an object`,
  )

const messageOfIssue = (issue: v.BaseIssue<unknown>, schema: AnySchema): string =>
  describeIssue(issue, '', () => false, schema)
