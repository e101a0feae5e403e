/**
 * Format of withdrawals in an index. Hosts of earlier releases reject an index with unknown members. The mark
 * is therefore an entry of the version's wants, which they only search, and the version's runtime range
 * matches no host, so that they do not choose it.
 */
import * as v from 'valibot'

/** The kind of the mark; the number is its format. */
const MARK = 'withdrawn-1'
/** Not a version range. Hosts show it when they refuse the version. */
const NO_RUNTIME = 'none, since this version is withdrawn'

/** Maximum length of a reason, in characters. */
const MAX_REASON_LENGTH = 500

/** One line of plain text, because it is shown in terminals and pages. */
export const WithdrawalReason = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1, 'say why'),
  v.maxLength(MAX_REASON_LENGTH, `a reason has ${MAX_REASON_LENGTH} characters at most`),
  v.check(
    (text) => !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text),
    'a reason is one line without control characters',
  ),
)

/** When a version was withdrawn, and the publisher's reason. */
export type Withdrawn = { at: string; reason: string }

type WrittenWant = { kind: string; subject: string; words: string }
type Written = { runtime: string; wants: WrittenWant[] }

const Mark = v.strictObject({
  kind: v.literal(MARK),
  subject: v.pipe(
    v.string(),
    v.parseJson(),
    v.strictObject({
      at: v.pipe(v.string(), v.isoTimestamp()),
      runtime: v.pipe(v.string(), v.maxLength(200)),
    }),
  ),
  words: WithdrawalReason,
})

const isMark = ({ kind }: WrittenWant): boolean => kind === MARK

/** Describes an invalid mark; null if there is none. */
export function faultOfMarks({ wants }: Written): string | null {
  const marks = wants.filter(isMark)
  if (marks.length > 1) return 'it is withdrawn twice'
  const [mark] = marks
  if (mark === undefined) return null
  const parsed = v.safeParse(Mark, mark, { abortEarly: true })
  return parsed.success ? null : `its withdrawal cannot be read: ${parsed.issues[0].message}`
}

/** Reads a version: restores its own runtime and moves the mark out of its wants. */
export function readMarks<T extends Written>(written: T): T & { withdrawn?: Withdrawn } {
  const mark = written.wants.find(isMark)
  if (mark === undefined) return written
  const { subject, words } = v.parse(Mark, mark)
  return {
    ...written,
    runtime: subject.runtime,
    wants: written.wants.filter((one) => !isMark(one)),
    withdrawn: { at: subject.at, reason: words },
  }
}

/** Returns the version as it is written. @param mostWants maximum number of wants, including the mark */
export function writtenMarks<T extends Written & { withdrawn?: Withdrawn }>(
  version: T,
  mostWants: number,
): Omit<T, 'withdrawn'> {
  const { withdrawn, ...rest } = version
  if (withdrawn === undefined) return rest
  const { at, reason } = withdrawn
  const subject = JSON.stringify({ at, runtime: version.runtime })
  const mark = { kind: MARK, subject, words: reason }
  // The mark takes the place of a want. Wants are only searched.
  const wants = [mark, ...version.wants].slice(0, mostWants)
  return { ...rest, runtime: NO_RUNTIME, wants }
}
