/** Collects the errors of a file. The first few are listed, the others only counted. */
import { type FileFinding, MAX_TOLD } from '../../../contract/models/people-file.ts'

/** Error for a file with errors. Nothing of it was imported. */
export class FileError extends Error {
  readonly findings: FileFinding[]
  /** Total number of errors, including those that are not listed. */
  readonly total: number

  constructor(findings: FileFinding[], total: number) {
    const told = findings.map(
      ({ line, column, problem }) =>
        `line ${line}${column === null ? '' : `, ${column}`}: ${problem}`,
    )
    const more = total - findings.length
    if (more > 0) told.push(`and ${more} more`)
    super(`the file has errors; nothing was imported\n${told.join('\n')}`)
    this.name = 'FileError'
    this.findings = findings
    this.total = total
  }
}

export type Findings = {
  /** Adds an error. `more` is the number of further ones of its kind, which are not listed. */
  add(line: number, column: string | null, problem: string, more?: number): void
  readonly total: number
  /** @throws FileError if there are any errors */
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

/** Returns a cell in a form that a message may quote: short, on one line. */
export const shown = (cell: string): string =>
  JSON.stringify(cell.length > 60 ? `${cell.slice(0, 60)}…` : cell)
