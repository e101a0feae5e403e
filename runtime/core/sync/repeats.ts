/**
 * Detection of endless listings: pages with rows that the run has already seen, and pages with nothing new.
 */

/** Rows of one page of a listing, or of several that were written at once and contain no row twice. */
type PageOf = {
  /** Phase of the listing, which is also the prefix of its counts. */
  phase: string
  /** Number of rows written. */
  written: number
  /** Number of those that this run had written before. */
  repeated: number
  /** Number of pages; 1 by default. */
  pages?: number
  /** True if this is the first page of the listing. */
  isFirst: boolean
  /** True if this is the last page. */
  isLast: boolean
}

/** Number of repeated rows that is always allowed. */
const FEW_REPEATS = 1000
/**
 * Maximum number of consecutive pages with nothing new; the second applies where an operator allows repeats.
 * In the activity phase, pages are counted for each batch of accounts.
 */
const MAX_IDLE_PAGES = 1000
const MAX_IDLE_PAGES_ALLOWED = 100_000

type Counts = Readonly<Record<string, number>>

/**
 * Returns the counts of a page. A listing that restarts (its token was lost, or its pages were too large)
 * repeats all earlier rows: that many repeats are `expected`.
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
 * Returns the reason why a listing is considered endless, as text, or null if it is not. `mostPercent` is the
 * maximum share of repeated rows. At 100, only pages with nothing new count.
 */
export function endlessListingMessage(
  counts: Counts,
  phase: string,
  mostPercent: number,
): string | null {
  const { repeated, expected, fresh } = ofPhase(counts, phase)
  const again = repeated - expected
  const idle = counts['idle_pages'] ?? 0
  const isRepeating =
    mostPercent < 100 && again > FEW_REPEATS && again * 100 > (again + fresh) * mostPercent
  if (isRepeating)
    return `The listing of ${phase} repeats itself: of ${again + fresh} rows, ${fresh} were new and ${again} had already been listed in this run; ${ADVICE}`
  const mostIdle = mostPercent < 100 ? MAX_IDLE_PAGES : MAX_IDLE_PAGES_ALLOWED
  if (idle > mostIdle)
    return `The listing of ${phase} continues, but its last ${idle} pages had nothing new; ${ADVICE}`
  return null
}

const ADVICE =
  'it does not report its end, or its pages are wrong: fix the connector or the system, or, if this is how it lists, set max_repeated_percent in the app’s sync settings to 100'
