/** Building blocks of the generated pages. */

/** Texts written into pages, by the name of their marker. */
export type Parts = Readonly<Record<string, () => string>>

export const code = (text: string): string => `\`${text}\``

export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) =>
    `| ${cells.map((one) => one.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${head.map(() => ' --- |').join('')}`, ...rows.map(line)].join('\n')
}
