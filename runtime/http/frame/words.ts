/** Words that pages make of data: names, moments, lengths of time. */
import { html } from 'hono/html'

type Named = { given_name: string; family_name: string; email: string }

/** What a person is called. */
export const nameOf = ({ given_name, family_name, email }: Named): string =>
  `${given_name} ${family_name}`.trim() || email

/** Two letters for a picture of a person or an app; decoration beside the name. */
export function initials(name: string): string {
  const words = name.split(/[\s@._-]+/).filter((one) => /^[\p{L}\p{N}]/u.test(one))
  const letters = words.slice(0, 2).map((one) => [...one][0] ?? '')
  return letters.join('').toUpperCase() || '?'
}

/** One or many of something. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** UNITS, longest first: from how many seconds on it is used, its length, its name. */
const UNITS = [
  [2 * DAY, DAY, 'day'],
  [2 * HOUR, HOUR, 'hour'],
  [0, MINUTE, 'minute'],
] as const

/** A length of time in its largest unit that leaves two or more: `47 hours`, `3 days`, `1 minute`. */
export function lengthOf(seconds: number): string {
  const [, unit, name] = UNITS.find(([from]) => seconds >= from) ?? UNITS[2]
  return counted(Math.max(1, Math.round(seconds / unit)), name)
}

/** How long access is asked for, as whole as it was chosen; null for good. */
export function accessLength(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return 'without an end'
  for (const [unit, name] of [
    [DAY, 'day'],
    [HOUR, 'hour'],
  ] as const)
    if (seconds % unit === 0) return `for ${counted(seconds / unit, name)}`
  return `for ${lengthOf(seconds)}`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The core interface writes some moments without a zone; all are UTC. */
export const momentOf = (text: string): Date =>
  new Date(/[zZ]$|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`)

const clock = (at: Date): string => at.toISOString().slice(11, 16)

/** `23 Nov 16:20 UTC`, with the year where it is another one. */
function dayOf(at: Date, now: Date): string {
  const year = at.getUTCFullYear() === now.getUTCFullYear() ? '' : ` ${at.getUTCFullYear()}`
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}${year}`
}

const timeTag = (at: Date, words: string) =>
  html`<time datetime="${at.toISOString()}">${words}</time>`

/** A moment with its clock time. */
export const moment = (at: Date, now: Date) => timeTag(at, `${dayOf(at, now)} ${clock(at)} UTC`)

/** The day alone. */
export const day = (at: Date, now: Date) => timeTag(at, dayOf(at, now))

/** How long ago something was: `3 hours`. */
export const age = (at: Date, now: Date) =>
  timeTag(at, lengthOf(Math.max(0, (now.getTime() - at.getTime()) / 1000)))
