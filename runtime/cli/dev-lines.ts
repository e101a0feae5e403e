/** Lines that `keyway dev` prints about calls and changes. */
import path from 'node:path'
import { errorBody } from '../contract/envelope/envelope.ts'
import type { Observers } from '../observe/telemetry.ts'
import type { CheckResult } from '../testing/check-result.ts'
import { CASES_FILE } from '../testing/read-cases.ts'
import { counted } from './terminal/counted.ts'

type CallEnd = Parameters<NonNullable<Observers['onCall']>>[0]
type Row = Parameters<NonNullable<Observers['onChange']>>[0]

/**
 * Returns the lines of a call with the code that its caller received, followed by the error and its place.
 */
export function callLines({ connector, capability, error, seconds }: CallEnd): string[] {
  const told = error && errorBody(error, connector).error
  const head = `${plain(connector)} ${plain(capability)} → ${told?.error_code ?? 'ok'} in ${(seconds * 1000).toFixed(1)} ms`
  if (!told) return [head]
  const { raised_by, raised_in, message } = told
  const by = raised_by === null ? '' : `${raised_by}: `
  const at = raised_in === null ? '' : `, raised in ${raised_in}`
  return [head, plain(`    ${by}${message}${at}`)]
}

/** Returns the lines about the new state of the folder, from all rows of one change. */
export function changeLines(name: string, rows: readonly Row[]): string[] {
  // The folder changed again while it was read. The later change reports the state.
  if (rows.some((row) => row.state === 'checking')) return []
  const serving = rows.find((row) => row.serving)
  const other = rows.find((row) => !row.serving)
  if (!other) return serving ? [`${serving.id} ${serving.version} is served`] : []
  const title = other.id ?? name
  if (other.state !== 'ghost') return [`${title}: ${other.reason ?? 'is not served'}`]
  const head = `${title} is ghost: ${other.reason ?? ''}`
  return serving
    ? [head, `    ${serving.id} ${serving.version}, the previous version, is still served`]
    : [head]
}

/**
 * Returns the lines of a check, with the place of each finding: a file and a line that a terminal can open.
 */
export function checkLines({ ok, passed, findings }: CheckResult, folder: string): string[] {
  const cases = `${counted(passed.length, 'case')} passed`
  if (findings.length === 0) return [`check: ok, ${cases}`]
  return [
    `check: ${ok ? 'ok' : 'FAIL'}, ${cases}, ${counted(findings.length, 'finding')}`,
    ...findings.map(({ severity, where, line, message }) => {
      const place =
        line === undefined ? where : `${path.join(folder, CASES_FILE)}:${line} (${where})`
      return plain(`    ${severity}: ${place}: ${message}`)
    }),
  ]
}

/**
 * Collects the rows of one change, which the registry reports one after another, and passes them on together.
 */
export function createChanges(onRows: (rows: Row[]) => unknown): (row: Row) => void {
  let rows: Row[] = []
  return (row) => {
    rows.push(row)
    if (rows.length > 1) return
    queueMicrotask(() => {
      const all = rows
      rows = []
      onRows(all)
    })
  }
}

/** Replaces control characters in text by others, which a terminal would act on. */
const plain = (text: string): string => text.replace(/\p{C}+/gu, ' ')
