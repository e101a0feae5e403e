/** Reads the rows of a CSV file, one by one, with the number of their first line. */
import { Readable } from 'node:stream'
import { CsvError, type Options, parse } from 'csv-parse'
import { MAX_ROW_BYTES } from '../../../contract/models/people-file.ts'
import { UnreadableError, wholeLines } from './lines.ts'

/** A row: the number of its first line, and its cells. */
export type FileRow = { line: number; cells: string[] }

const OPTIONS = {
  bom: true,
  // A file that was edited on several systems has several kinds of line ends.
  record_delimiter: ['\r\n', '\n', '\r'],
  // The number of cells is checked later, with error messages of our own.
  relax_column_count: true,
  skip_empty_lines: true,
  max_record_size: MAX_ROW_BYTES,
}

/**
 * Yields all rows, including the header. Memory use does not grow with the file.
 *
 * @throws UnreadableError
 */
export async function* readRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<FileRow> {
  let end = 0
  // The cast: the parser's type supports only options whose records are lists of strings.
  const parser = parse({
    ...OPTIONS,
    on_record(cells: string[], { lines }): FileRow {
      const inside = lines === end + 1 ? 0 : lineEndsIn(cells)
      end = lines
      return { line: end - inside, cells }
    },
  } satisfies Options<FileRow, string[]> as unknown as Options)
  const source = Readable.from(wholeLines(chunks))
  source.once('error', (error) => parser.destroy(error))
  source.pipe(parser)
  try {
    for await (const row of parser) yield row
  } catch (error) {
    throw error instanceof CsvError ? unreadable(error, end + 1) : error
  } finally {
    source.destroy()
  }
}

const lineEndsIn = (cells: string[]): number =>
  cells.reduce((sum, cell) => sum + (cell.match(/\r\n|\n|\r/g)?.length ?? 0), 0)

/**
 * Translates an error of the parser for the author of the file. `next` is the line at which the row starts.
 */
function unreadable({ code, lines, message }: CsvError, next: number): UnreadableError {
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return new UnreadableError(next, 'opens a quote that is never closed; add the missing "')
    case 'CSV_MAX_RECORD_SIZE':
      return new UnreadableError(
        next,
        `starts a row of more than ${MAX_ROW_BYTES} bytes; shorten it, or close its open quote`,
      )
    case 'CSV_INVALID_CLOSING_QUOTE':
    case 'INVALID_OPENING_QUOTE':
      return new UnreadableError(
        Number(lines ?? next),
        'has a quote in the middle of a cell; put the whole cell in quotes and double the quotes inside: "say ""hi"""',
      )
    default:
      return new UnreadableError(Number(lines ?? next), message)
  }
}
