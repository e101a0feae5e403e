/** The log: JSON lines on standard output, or readable lines on a terminal. */
import { createRequire } from 'node:module'
import type { Writable } from 'node:stream'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import type { PinoPretty } from 'pino-pretty'
import { membersOf } from '../contract/schema/record.ts'
import { createRepeats, type Line } from './log-repeats.ts'
import { escaped, UNSEEN } from './visible.ts'

export type Log = Logger

/** Creates the host's log. Members whose name suggests a secret are censored at any place. */
export function createLog(level: string, destination?: DestinationStream): Log {
  if (destination) return pino(optionsOf(level), destination)
  if (process.stdout.isTTY) return readableLog(level)
  return pino(optionsOf(level), pino.destination({ dest: 1, sync: false }))
}

/**
 * Maximum length of a line's message, of an error's message and of a stack, in characters. They contain text
 * from others.
 */
const MAX_LINE = 20_000
const MAX_MESSAGE = 4000
const MAX_STACK = 16_000

/** Truncates a text and marks it as truncated. */
const cut = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max)} [${text.length - max} more characters]`

const optionsOf = (level: string): LoggerOptions => ({
  level,
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  serializers: { err: (error: Error) => bounded(withoutValues(error)) },
  hooks: { logMethod: createLogMethod() },
  redact: {
    paths: ['authorization', '*.authorization', 'auth', '*.auth', 'credentials', '*.credentials'],
    censor: '[secret]',
  },
})

/** Creates a log of readable lines, in colour if they go to the terminal. */
export function readableLog(level: string, destination?: Writable): Log {
  // Loaded only for a terminal, because loading it takes longer than the rest of the log.
  const pretty: typeof PinoPretty = createRequire(import.meta.url)('pino-pretty')
  const stream = pretty({
    colorize: destination === undefined,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'hostname,pid',
    // Indent continuation lines of a message, so that they do not look like lines of the log.
    messageFormat: (line, key) => String(line[key] ?? '').replaceAll('\n', '\n    '),
    ...(destination ? { destination, sync: true } : {}),
  })
  const hooks = { logMethod: createLogMethod(), streamWrite: harmless }
  return pino({ ...optionsOf(level), hooks }, stream)
}

/**
 * Escapes invisible characters in a line of JSON. JSON has already escaped the first 32 characters; `\n`
 * among them is left to the formatter.
 */
const harmless = (json: string): string =>
  json
    .replace(/\\(u00[01][0-9a-f]|.)/g, (whole, sign: string) =>
      /^(u00|[brt])/.test(sign) ? `\\${whole}` : whole,
    )
    .replace(UNSEEN, (sign) => `\\${escaped(sign)}`)

/** Serialises an error. The values of a failed database query, such as people and hashes, are removed. */
function withoutValues(error: Error) {
  const told = pino.stdSerializers.err(error)
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    if (!('query' in one && 'params' in one)) continue
    // In the format of DrizzleQueryError.
    const values = `\nparams: ${one.params}`
    told.message = told.message.replaceAll(values, '')
    told.stack = told.stack.replaceAll(values, '')
    if (one === error) told['params'] = undefined
  }
  return told
}

type Told = ReturnType<typeof pino.stdSerializers.err>

/** Limits the length of texts: engines quote their input at any length. */
function bounded(told: Told): Told {
  for (const [name, value] of Object.entries(told))
    if (typeof value === 'string')
      Object.assign(told, { [name]: cut(value, name === 'stack' ? MAX_STACK : MAX_MESSAGE) })
  return told
}

type Method = (this: Logger, ...args: never[]) => void

/** Creates the log method, which truncates text from others and counts repeated lines. */
function createLogMethod() {
  /** By log: a child log has its own fields. */
  const memories = new WeakMap<Logger, ReturnType<typeof createRepeats>>()
  function repeatsOf(log: Logger) {
    const known = memories.get(log)
    if (known) return known
    const made = createRepeats(({ level, fields, message }) =>
      // Marked so that the hook does not count the summary.
      log[levelName(level)]({ ...fields, [COUNTED]: true }, message),
    )
    memories.set(log, made)
    return made
  }
  return function logMethod(this: Logger, args: unknown[], method: Method, level: number): void {
    const short = args.map((one) => (typeof one === 'string' ? cut(one, MAX_LINE) : one))
    const line = lineOf(short, level)
    if (line === null || !isCounted(line) || repeatsOf(this).isNew(line))
      // The cast: pino has overloads, and receives what it was called with.
      method.apply(this, short as never[])
  }
}

/** Mark in the fields of a summary, which must not be counted. JSON omits symbols. */
const COUNTED = Symbol('counted')

/** The cast: the table of labels has the names of the levels. */
const levelName = (level: number) => (pino.levels.labels[level] ?? 'info') as pino.Level

/** Returns the fields and the message of a line in our own form. Null for other forms. */
function lineOf(args: unknown[], level: number): Line | null {
  const [first, second = ''] = args
  if (typeof first === 'string') return { level, fields: {}, message: first }
  if (typeof first !== 'object' || first === null || typeof second !== 'string') return null
  return { level, fields: membersOf(first), message: second }
}

const { warn: WARN = 40, info: INFO = 30 } = pino.levels.values

/**
 * Reports whether repeats of a line are counted: warnings, errors, and lines by connectors about their calls,
 * except for debugging.
 */
const isCounted = ({ level, fields }: Line): boolean =>
  !(COUNTED in fields) && (level >= WARN || (level >= INFO && 'capability' in fields))
