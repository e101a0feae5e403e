/**
 * Writes findings into the text of RESULTS.md. Each part has a marked block of its own, which a run replaces;
 * everything outside the blocks is written by hand and is left unchanged.
 */
import type { Findings, Judged, Table } from './findings.ts'

/** One part of the report. */
export type Section = {
  /** Name of the part, as in `ONLY`. */
  part: string
  title: string
  /** The machine and the length of the run, as text. */
  setting: string
  findings: Findings
}

/** The place for blocks of new parts: before the hand-written text. */
const BY_HAND = '<!-- by hand -->'

/** The text with this section, which replaces that of an earlier run. */
export function place(text: string, section: Section): string {
  const open = `<!-- part: ${section.part} -->`
  const close = `<!-- /part: ${section.part} -->`
  const block = `${open}\n${sectionText(section)}\n${close}`
  const from = text.indexOf(open)
  const to = text.indexOf(close)
  if (from !== -1 && to > from) return text.slice(0, from) + block + text.slice(to + close.length)
  const at = text.includes(BY_HAND) ? text.indexOf(BY_HAND) : text.length
  return `${text.slice(0, at).trimEnd()}\n\n${block}\n\n${text.slice(at)}`
}

/** A section as Markdown. */
export function sectionText({ title, setting, findings }: Section): string {
  const { judged, tables, notes } = findings
  return [
    `## ${title}`,
    setting,
    ...(judged.length > 0 ? [judgedText(judged)] : []),
    ...tables.map(tableText),
    ...notes,
  ].join('\n\n')
}

/** How many goals were met, as text. */
export function summary(sections: readonly Section[]): string {
  const judged = sections.flatMap(({ findings }) => findings.judged)
  const count = (met: boolean | null) => judged.filter((one) => one.met === met).length
  const missed = judged.filter(({ met }) => met === false).map(({ what }) => `  missed: ${what}`)
  const unknown = count(null) > 0 ? `, ${count(null)} not measured` : ''
  return [`goals: ${count(true)} met, ${count(false)} missed${unknown}`, ...missed].join('\n')
}

const judgedText = (judged: readonly Judged[]): string =>
  lines(
    ['what', 'measured', 'goal', ''],
    judged.map(({ what, figure, goal, met }) => [what, figure, goal, VERDICTS[`${met}`]]),
  )

const VERDICTS = { true: 'met', false: '**missed**', null: '-' } as const

const tableText = ({ title, columns, rows }: Table): string =>
  `${title}:\n\n${lines(columns, rows)}`

function lines(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(columns), `|${columns.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

/** A bar for a ratio, one character per tenth, truncated at twice the whole. */
export const bar = (ratio: number): string => '█'.repeat(Math.min(20, Math.round(ratio * 10)))
