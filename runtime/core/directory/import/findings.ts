/** What is wrong with a file, gathered: the first few one by one, the others counted. */
import { type FileFinding, MAX_TOLD } from '../../../contract/models/people-file.ts'

/** A file has errors: nothing of it was taken. */
export class FileError extends Error {
  readonly findings: FileFinding[]
  /** All of them, also those that are not told one by one. */
  readonly total: number

  constructor(findings: FileFinding[], total: number) {
    const told = findings.map(
      ({ line, column, problem }) =>
        `line ${line}${column === null ? '' : `, ${column}`}: ${problem}`,
    )
    const more = total - findings.length
    if (more > 0) told.push(`and ${more} more`)
    super(`the file has errors; nothing of it was imported\n${told.join('\n')}`)
    this.name = 'FileError'
    this.findings = findings
    this.total = total
  }
}

export type Findings = {
  /** `more`: how many more of its kind there are, which are not listed. */
  add(line: number, column: string | null, problem: string, more?: number): void
  readonly total: number
  /** @throws FileError when there is any. */
  settle(): void
  /** @throws FileError */
  refuse(): never
}

export function createFindings(): Findings {
  const told: FileFinding[] = []
  let total = 0
  const refuse = (): never => {
    throw new FileError(
      told.sort((a, b) => a.line - b.line),
      total,
    )
  }
  return {
    add(line, column, problem, more = 0) {
      total += 1 + more
      if (told.length < MAX_TOLD) told.push({ line, column, problem })
    },
    get total() {
      return total
    },
    settle() {
      if (total > 0) refuse()
    },
    refuse,
  }
}

/** A cell as a message may repeat it: short, on one line. */
export const shown = (cell: string): string =>
  JSON.stringify(cell.length > 60 ? `${cell.slice(0, 60)}…` : cell)
