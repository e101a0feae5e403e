/** The log: JSON lines on standard output, readable lines on a terminal. */
import { createRequire } from 'node:module'
import type { Writable } from 'node:stream'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import type { PinoPretty } from 'pino-pretty'
import { membersOf } from '../contract/schema/record.ts'
import { createRepeats, type Line } from './log-repeats.ts'
import { escaped, UNSEEN } from './visible.ts'

export type Log = Logger

/** Makes the host's log. Names of members that could hold a secret are cut wherever they stand. */
export function createLog(level: string, destination?: DestinationStream): Log {
  if (destination) return pino(optionsOf(level), destination)
  if (process.stdout.isTTY) return readableLog(level)
  return pino(optionsOf(level), pino.destination({ dest: 1, sync: false }))
}

/** Longest message of a line, of an error and of a stack, in characters: what others wrote is in them. */
const MAX_LINE = 20_000
const MAX_MESSAGE = 4000
const MAX_STACK = 16_000

/** Cuts a text, and says so. */
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

/** Lines for people, in colours unless they go elsewhere than to the terminal. */
export function readableLog(level: string, destination?: Writable): Log {
  // Loaded where there is a terminal: it takes longer than the rest of the log.
  const pretty: typeof PinoPretty = createRequire(import.meta.url)('pino-pretty')
  const stream = pretty({
    colorize: destination === undefined,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'hostname,pid',
    // A line that a message goes on in is not one of ours.
    messageFormat: (line, key) => String(line[key] ?? '').replaceAll('\n', '\n    '),
    ...(destination ? { destination, sync: true } : {}),
  })
  const hooks = { logMethod: createLogMethod(), streamWrite: harmless }
  return pino({ ...optionsOf(level), hooks }, stream)
}

/** The same in a line of JSON, where the first 32 are escaped already: `\n` is for who formats it. */
const harmless = (json: string): string =>
  json
    .replace(/\\(u00[01][0-9a-f]|.)/g, (whole, sign: string) =>
      /^(u00|[brt])/.test(sign) ? `\\${whole}` : whole,
    )
    .replace(UNSEEN, (sign) => `\\${escaped(sign)}`)

/** A question of the database that failed, without the values that it was asked with: people, hashes. */
function withoutValues(error: Error) {
  const told = pino.stdSerializers.err(error)
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    if (!('query' in one && 'params' in one)) continue
    // As DrizzleQueryError writes it.
    const values = `\nparams: ${one.params}`
    told.message = told.message.replaceAll(values, '')
    told.stack = told.stack.replaceAll(values, '')
    if (one === error) told['params'] = undefined
  }
  return told
}

type Told = ReturnType<typeof pino.stdSerializers.err>

/** Engines quote what they were given, at any length. */
function bounded(told: Told): Told {
  for (const [name, value] of Object.entries(told))
    if (typeof value === 'string')
      Object.assign(told, { [name]: cut(value, name === 'stack' ? MAX_STACK : MAX_MESSAGE) })
  return told
}

type Method = (this: Logger, ...args: never[]) => void

/** Shortens what others wrote, and counts what repeats itself. */
function createLogMethod() {
  /** By the log that writes them: a child has fields of its own. */
  const memories = new WeakMap<Logger, ReturnType<typeof createRepeats>>()
  function repeatsOf(log: Logger) {
    const known = memories.get(log)
    if (known) return known
    const made = createRepeats(({ level, fields, message }) =>
      // Written past the hook that counts.
      log[levelName(level)]({ ...fields, [COUNTED]: true }, message),
    )
    memories.set(log, made)
    return made
  }
  return function logMethod(this: Logger, args: unknown[], method: Method, level: number): void {
    const short = args.map((one) => (typeof one === 'string' ? cut(one, MAX_LINE) : one))
    const line = lineOf(short, level)
    if (line === null || !isCounted(line) || repeatsOf(this).isNew(line))
      // The cast: pino's overloads; it gets what it was given.
      method.apply(this, short as never[])
  }
}

/** Stands in the fields of a summary, which is no line to be counted; JSON leaves symbols out. */
const COUNTED = Symbol('counted')

/** The cast: the table of labels has the names of the levels. */
const levelName = (level: number) => (pino.levels.labels[level] ?? 'info') as pino.Level

/** Fields and message of a line as all of ours are written; null for others. */
function lineOf(args: unknown[], level: number): Line | null {
  const [first, second = ''] = args
  if (typeof first === 'string') return { level, fields: {}, message: first }
  if (typeof first !== 'object' || first === null || typeof second !== 'string') return null
  return { level, fields: membersOf(first), message: second }
}

const { warn: WARN = 40, info: INFO = 30 } = pino.levels.values

/** Warnings and errors; of what connectors say of their calls, all but what is for debugging. */
const isCounted = ({ level, fields }: Line): boolean =>
  !(COUNTED in fields) && (level >= WARN || (level >= INFO && 'capability' in fields))
