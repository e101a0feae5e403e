/**
 * Patterns that connectors declare for texts. They come from third parties and run in the host, so they
 * run on an engine of linear time (RE2), and what that engine makes of one is bounded: its work is the
 * size of its program times the length of the text.
 */
import { RE2JS } from 're2js'
import { membersOf } from '../schema/record.ts'

/** Longest pattern, in characters. */
export const MAX_PATTERN_LENGTH = 200

/** Longest text that is held against a pattern, in characters. */
export const MAX_MATCHED_LENGTH = 512

/** Most steps (instructions of the compiled program) of one pattern, and of all of one connector. */
export const MAX_PATTERN_STEPS = 1000
export const MAX_ALL_PATTERN_STEPS = 5000

/** What a Unicode class counts: its tables are larger than one step tells. */
const CLASS_STEPS = 20

/** What is wrong with a pattern, and what to write instead; null for one that may be used. */
export function patternFault(pattern: string): string | null {
  // Estimated first: compiling a large one is itself what stops the host.
  const estimated = estimateSteps(pattern)
  if (estimated > MAX_PATTERN_STEPS) return tooLarge(estimated)
  try {
    const steps = RE2JS.compile(pattern).programSize()
    return steps > MAX_PATTERN_STEPS ? tooLarge(steps) : null
  } catch {
    // The answer itself: the engine is the only judge of a pattern.
    return 'is not a regular expression (RE2 syntax: no look-around, no back-references)'
  }
}

/** What is wrong with all patterns of a manifest together, before its shape is known; else null. */
export function patternsFault(manifest: unknown): string | null {
  const steps = patternsOf(manifest).reduce((sum, pattern) => sum + estimateSteps(pattern), 0)
  return steps > MAX_ALL_PATTERN_STEPS
    ? `the patterns of all fields come to about ${steps} steps, at most ${MAX_ALL_PATTERN_STEPS} are allowed; use fewer, or smaller repeat counts`
    : null
}

const tooLarge = (steps: number): string =>
  `is too large a pattern: it comes to about ${steps} steps, at most ${MAX_PATTERN_STEPS} are allowed; write + or * instead of large repeat counts, and do not repeat what repeats`

/** One construct after another; a group's own head tells whether it captures. */
const TOKENS =
  /\\Q[\s\S]*?(?:\\E|$)|\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\[pP]?[\s\S]|\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|\(\?[imsU-]*:|[\s\S]/g

/**
 * About how many steps a pattern comes to, without compiling it: a sequence adds up, a repeat count
 * multiplies what it stands behind.
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

/** Every pattern that a manifest declares, where it has the form of one. */
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
