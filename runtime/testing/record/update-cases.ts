/** Finds cases whose answers have changed and makes their new expectations. Does not write the file. */

import type { Folder } from '../../connectors/registry/folder.ts'
import type { Case, Step } from '../../contract/connector/cases.ts'
import { isOneOf } from '../../contract/schema/one-of.ts'
import { membersOf } from '../../contract/schema/record.ts'
import { caseSpans } from '../case-file.ts'
import { jsonText } from '../json-text.ts'
import { CASES_FILE, readCases } from '../read-cases.ts'
import { type AnswerBody, judgeCase, type Stage, withoutNulls } from '../run-case.ts'
import { BROKEN } from './expectation.ts'

type CaseUpdates = {
  /** Names of the cases whose expectations would change. */
  names: string[]
  /** New text of the whole file. */
  text: string
}

type Members = Record<string, unknown>

/**
 * Returns the file with the current answers as the expectations. A case stays unchanged if anything but its
 * answers differs: another request, an error instead of an answer, or a connector that breaks.
 */
export async function updatesOf(
  { files }: Pick<Folder, 'files'>,
  stage: Stage,
): Promise<CaseUpdates> {
  const before = files.get(CASES_FILE)?.toString('utf8') ?? '[]'
  const read = readCases(before)
  if ('unreadable' in read) return { names: [], text: before }
  const names: string[] = []
  let text = before
  // From last to first: offsets before a change stay valid.
  for (const span of caseSpans(before).toReversed()) {
    const one = read.cases.find(({ name }) => name === span.name)
    if (one === undefined || !Object.hasOwn(stage.version.manifest.capabilities, one.capability))
      continue
    const { findings, bodies, hasExpectedRequests } = await judgeCase(one, stage)
    const steps: readonly Step[] = one.pages ?? [one]
    const isSound =
      hasExpectedRequests &&
      bodies.length === steps.length &&
      steps.every((step, at) => mayTake(step, bodies[at]))
    if (findings.length === 0 || !isSound) continue
    const written = rewritten(JSON.parse(before.slice(span.start, span.end)), one, bodies)
    const lineStart = before.lastIndexOf('\n', span.start) + 1
    const [pad = ''] = /^ */.exec(before.slice(lineStart, span.start)) ?? []
    text = text.slice(0, span.start) + jsonText(written, pad) + text.slice(span.end)
    names.unshift(one.name)
  }
  return { names, text }
}

/** Reports whether an answer may become the expectation of a call. */
function mayTake(step: Step, body: AnswerBody | undefined): boolean {
  if (body === undefined) return false
  const isError = body['is_error'] === true
  const { error_code } = membersOf(body['error'])
  return isError === (step.error !== undefined) && !isOneOf(BROKEN, error_code)
}

function rewritten(written: Members, one: Case, bodies: readonly AnswerBody[]): Members {
  if (one.pages === undefined) return taken(written, bodies[0] ?? {})
  const pages = [written['pages']]
    .flat()
    .map((page, at) => taken(membersOf(page), bodies[at] ?? {}))
  return { ...written, pages }
}

/** Returns a step with the current values of the members that it contains. */
function taken(step: Members, body: AnswerBody): Members {
  return {
    ...step,
    ...('response' in step ? { response: withoutNulls(body['response']) } : {}),
    ...('more' in step ? { more: body['page'] !== null } : {}),
    ...('raw_data' in step ? { raw_data: body['raw_data'] } : {}),
    ...('error' in step
      ? { error: errorNow(membersOf(step['error']), membersOf(body['error'])) }
      : {}),
  }
}

/** Keeps an expected part of a message if the new message still contains it. */
const errorNow = (step: Members, now: Members): Members =>
  Object.fromEntries(
    Object.keys(step).map((name) =>
      name === 'message' && String(now[name]).includes(String(step[name]))
        ? [name, step[name]]
        : [name, now[name]],
    ),
  )
