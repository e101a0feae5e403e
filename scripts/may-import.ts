/** The permitted imports of a room of runtime/ for its page, from the table of layers. */
import path from 'node:path'
import { MAY_IMPORT } from '../test/layers.ts'
import { code } from './markdown.ts'

/** Returns the room of a name in the table. A top-level file is its own room. */
const roomOf = (name: string): string => name.split('/')[0] ?? name

/** Lists the rooms that a room may import, and those that may import it. */
export function mayImport(page: string): string {
  const room = path.basename(path.dirname(page))
  const from = new Set<string>()
  const by = new Set<string>()
  for (const [row, allowed] of Object.entries(MAY_IMPORT))
    for (const name of allowed.map(roomOf)) {
      if (roomOf(row) === room && name !== room) from.add(name)
      if (name === room && roomOf(row) !== room) by.add(roomOf(row))
    }
  return `It may import ${listed(from)}. It may be imported by ${listed(by)}.`
}

const listed = (names: ReadonlySet<string>): string =>
  names.size === 0 ? 'no other room' : [...names].sort().map(code).join(', ')
