/**
 * connector.cases.json as text: finds the place of each case, and adds or replaces a case without changing
 * the rest.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Case, CaseDefaults, Exchange } from '../contract/connector/cases.ts'
import { membersOf } from '../contract/schema/record.ts'
import { present } from './expand-case.ts'
import { jsonText } from './json-text.ts'
import { fileOf } from './read-cases.ts'

/** Place of a case: its offsets in the text, and its line from 1. */
type CaseSpan = { start: number; end: number; line: number; name: string | null }

const TOKEN = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** Returns the places of all cases of a JSON text, in their order. */
export function caseSpans(text: string): CaseSpan[] {
  const spans: CaseSpan[] = []
  const open: string[] = []
  /** Number of open brackets within the list of cases. Null before and after the list. */
  let depth: number | null = null
  let [start, line, counted, member] = [0, 1, 0, '']
  const add = (end: number) => {
    for (; counted < start; counted += 1) if (text[counted] === '\n') line += 1
    spans.push({ start, end, line, name: nameIn(text.slice(start, end)) })
  }
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const isCase = open.length === depth
    if (token === '{' || token === '[') {
      if (isCase) start = index
      const isTop = open.length === 0 || (open.length === 1 && member === 'cases')
      if (token === '[' && isTop) depth = open.length + 1
      open.push(token)
      member = ''
    } else if (token === '}' || token === ']') {
      open.pop()
      if (depth !== null && open.length < depth) depth = null
      if (open.length === depth) add(index + 1)
    } else if (isCase && token !== ',') {
      start = index
      add(index + token.length)
    } else if (open.length === 1 && token.startsWith('"')) {
      member = JSON.parse(token)
    }
  }
  return spans
}

function nameIn(text: string): string | null {
  const { name } = membersOf(JSON.parse(text))
  return typeof name === 'string' ? name : null
}

/** Text, the line of the new case in it, and whether the case replaces another one. */
type PutCase = { text: string; line: number; replaces: boolean }

/** Puts a case into a text. It replaces the case of the same name, or is added at the end. */
export function putCase(text: string | undefined, one: Case): PutCase {
  const before = text === undefined || text.trim() === '' ? '{ "cases": [] }' : text
  const read = fileOf(before)
  if ('unreadable' in read) throw new Error(`connector.cases.json ${read.unreadable}`)
  const { defaults = {} } = read.shared
  const isList = /^\s*\[/.test(before)
  const [indent, depth] = [/^\s*[{[]\r?\n( +)/.exec(before)?.[1] ?? '  ', isList ? 1 : 2]
  const pad = indent.repeat(depth)
  const written = jsonText(slim(one, defaults), pad)
  const spans = caseSpans(before)
  const same = spans.findLast(({ name }) => name === one.name)
  const last = spans.at(-1)
  if (same)
    return {
      ...placed(before.slice(0, same.start) + written + before.slice(same.end), one.name),
      replaces: true,
    }
  if (last)
    return placed(
      `${before.slice(0, last.end)},\n${pad}${written}${before.slice(last.end)}`,
      one.name,
    )
  const all = isList ? [one] : { ...JSON.parse(before), cases: [slim(one, defaults)] }
  return placed(`${jsonText(all, '')}\n`, one.name)
}

const placed = (text: string, name: string) => ({
  text,
  line: caseSpans(text).findLast((one) => one.name === name)?.line ?? 1,
  replaces: false,
})

type Members = Record<string, unknown>

/** Returns the case without the members that the defaults of its file provide. */
function slim(one: Case, defaults: CaseDefaults): Members {
  const { name, capability, auth, credentials, settings, page, include_raw_data, pages, ...rest } =
    one
  const { request, upstream, ...answer } = rest
  const signed = without({ auth, credentials }, defaults)
  return present({
    name,
    capability,
    request: Object.keys(request).length === 0 ? undefined : request,
    // If one of the two differs, neither default applies.
    ...(Object.keys(signed).length === 0 ? {} : { auth, credentials }),
    ...orNone({ settings, page, include_raw_data }, defaults),
    ...(pages === undefined
      ? { upstream: upstream.map((sent) => slimExchange(sent, defaults)), ...answer }
      : {
          pages: pages.map(({ upstream: own, ...told }) =>
            present({ upstream: own.map((sent) => slimExchange(sent, defaults)), ...told }),
          ),
        }),
  })
}

function slimExchange(one: Exchange, { upstream = {} }: CaseDefaults): Members {
  const { request, headers, body, reply } = one
  const shared = upstream.reply ?? {}
  const isEmpty = Object.keys(reply.headers).length === 0
  return present({
    request,
    headers: isDeepStrictEqual(headers, upstream.headers) ? undefined : (headers ?? {}),
    body,
    reply: present({
      status: reply.status === shared.status ? undefined : reply.status,
      headers: isDeepStrictEqual(reply.headers, shared.headers ?? {})
        ? undefined
        : isEmpty && !shared.headers
          ? undefined
          : reply.headers,
      body: reply.body,
    }),
  })
}

/** Returns the members that differ from the defaults. */
const without = (own: Members, defaults: Members): Members =>
  Object.fromEntries(
    Object.entries(own).filter(([name, value]) => !isDeepStrictEqual(value, defaults[name])),
  )

/** Returns the members that differ from the defaults. A default that the case does not have becomes null. */
const orNone = (own: Members, defaults: Members): Members =>
  Object.fromEntries(
    Object.entries(without(own, defaults)).map(([name, value]) => [name, value ?? null]),
  )
