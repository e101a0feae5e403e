/**
 * Patterns that connectors declare for strings. They come from third parties and run in the host, so they run
 * on a linear-time engine (RE2) with a bounded program: the work is the size of the program times the length
 * of the text.
 */
import { RE2JS } from 're2js'
import { membersOf } from '../schema/record.ts'

/** Maximum length of a pattern, in characters. */
export const MAX_PATTERN_LENGTH = 200

/** Maximum length of a text that is matched against a pattern, in characters. */
export const MAX_MATCHED_LENGTH = 512

/**
 * Maximum number of steps (instructions of the compiled program) of one pattern, and of all patterns of one
 * connector.
 */
export const MAX_PATTERN_STEPS = 1000
export const MAX_ALL_PATTERN_STEPS = 5000

/** Steps that a Unicode class counts as. Its tables are larger than a single step. */
const CLASS_STEPS = 20

/** Returns what is wrong with a pattern and what to write instead, or null if it is valid. */
export function patternFault(pattern: string): string | null {
  // Estimate first: compiling a large pattern already blocks the host.
  const estimated = estimateSteps(pattern)
  if (estimated > MAX_PATTERN_STEPS) return tooLarge(estimated)
  try {
    const steps = RE2JS.compile(pattern).programSize()
    return steps > MAX_PATTERN_STEPS ? tooLarge(steps) : null
  } catch {
    // A result, not a failure: only the engine decides whether a pattern is valid.
    return 'is not a regular expression (RE2 syntax: no look-around, no back-references)'
  }
}

/**
 * Returns what is wrong with all patterns of a manifest together, or null. The manifest need not be validated
 * yet.
 */
export function patternsFault(manifest: unknown): string | null {
  const steps = patternsOf(manifest).reduce((sum, pattern) => sum + estimateSteps(pattern), 0)
  return steps > MAX_ALL_PATTERN_STEPS
    ? `the patterns of all fields come to about ${steps} steps, at most ${MAX_ALL_PATTERN_STEPS} are allowed; use fewer, or smaller repeat counts`
    : null
}

const tooLarge = (steps: number): string =>
  `is too large a pattern: it comes to about ${steps} steps, at most ${MAX_PATTERN_STEPS} are allowed; write + or * instead of large repeat counts, and do not repeat what repeats`

/** One construct per match. The head of a group tells whether it captures. */
const TOKENS =
  /\\Q[\s\S]*?(?:\\E|$)|\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\[pP]?[\s\S]|\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|\(\?[imsU-]*:|[\s\S]/g

/**
 * Estimates the steps of a pattern without compiling it. Items of a sequence add up, and a repeat count
 * multiplies the item before it.
 */
export function estimateSteps(pattern: string): number {
  const outer: number[] = []
  let all = 0
  let last = 0
  const add = (steps: number) => {
    all += steps
    last = steps
  }
  for (const [token, least, most] of pattern.slice(0, MAX_PATTERN_LENGTH).matchAll(TOKENS)) {
    if (least !== undefined) {
      const more = last * (Math.max(Number(least), Number(most || 0), 1) - 1)
      all += more
      last += more
    } else if (token === '(' || token.startsWith('(?')) {
      outer.push(all)
      all = token === '(' ? 2 : 0
    } else if (token === ')') {
      const group = all
      all = outer.pop() ?? 0
      add(group)
    } else if (/^[*+?|]$/.test(token)) {
      all += 1
      last += 1
    } else if (token.startsWith('\\Q')) add(token.length)
    else add(1 + CLASS_STEPS * (token.match(/\\[pP]/g)?.length ?? 0))
  }
  return outer.reduce((sum, one) => sum + one, all)
}

/** Returns every pattern that a manifest declares. Skips values that are not strings. */
function patternsOf(manifest: unknown): string[] {
  const { settings, capabilities } = members(manifest)
  const declared = Object.values(members(capabilities)).map(members)
  const fields = [
    settings,
    ...declared.flatMap((one) => [one['request_fields'], one['response_fields']]),
  ]
  return fields
    .flatMap((one) => Object.values(members(one)))
    .map((field) => members(field)['pattern'])
    .filter((pattern) => typeof pattern === 'string')
}

const members = membersOf
