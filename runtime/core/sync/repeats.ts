/** Whether a listing has an end: what its pages bring that the run has seen already, and pages that bring nothing. */

/** What a page of a listing brought, or several that were written at once and name no row twice. */
type PageOf = {
  /** What is listed; counts begin with it. */
  phase: string
  /** Rows that were written. */
  written: number
  /** Those of them that this run had written before. */
  repeated: number
  /** How many pages it was; one unless written. */
  pages?: number
  /** Whether the listing begins with this page. */
  isFirst: boolean
  /** Whether it ends with it. */
  isLast: boolean
}

/** Repeats up to so many are never held against a listing. */
const FEW_REPEATS = 1000
/** Pages in a row that bring nothing new; where an operator allows repeats, and for each set of accounts asked about. */
const MOST_IDLE_PAGES = 1000
const MOST_IDLE_PAGES_ALLOWED = 100_000

type Counts = Readonly<Record<string, number>>

/**
 * What to count of a page. A listing that begins again (its token was lost, or its pages were too large)
 * brings once more what there was: so much is `expected`.
 */
export function countPage(
  counts: Counts,
  { phase, written, repeated, pages = 1, isFirst, isLast }: PageOf,
): Record<string, number> {
  const before = ofPhase(counts, phase)
  const expected = isFirst ? before.fresh : 0
  const isIdle =
    written === 0 ||
    (repeated === written && before.repeated + repeated > before.expected + expected)
  const idle = counts['idle_pages'] ?? 0
  return {
    [`${phase}_repeated`]: repeated,
    [`${phase}_expected`]: expected,
    idle_pages: isIdle && !isLast ? pages : -idle,
  }
}

function ofPhase(counts: Counts, phase: string) {
  const repeated = counts[`${phase}_repeated`] ?? 0
  return {
    repeated,
    expected: counts[`${phase}_expected`] ?? 0,
    fresh: (counts[phase] ?? 0) - repeated,
  }
}

/**
 * Why a listing is taken for endless, as text; null if it is not. `mostPercent` is how much of what is
 * listed may be there already; with 100 only pages without anything new count.
 */
export function endlessWords(counts: Counts, phase: string, mostPercent: number): string | null {
  const { repeated, expected, fresh } = ofPhase(counts, phase)
  const again = repeated - expected
  const idle = counts['idle_pages'] ?? 0
  const isRepeating =
    mostPercent < 100 && again > FEW_REPEATS && again * 100 > (again + fresh) * mostPercent
  if (isRepeating)
    return `The listing of ${phase} repeats itself: of ${again + fresh} rows, ${fresh} were new and ${again} had been listed already in this run; ${ADVICE}`
  const mostIdle = mostPercent < 100 ? MOST_IDLE_PAGES : MOST_IDLE_PAGES_ALLOWED
  if (idle > mostIdle)
    return `The listing of ${phase} goes on, but its last ${idle} pages brought nothing new; ${ADVICE}`
  return null
}

const ADVICE =
  'its end is not told, or its pages are wrong: mend the connector or the system, or, if this is how it lists, set max_repeated_percent of the app’s sync settings to 100'
