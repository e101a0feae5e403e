/** The permitted imports of a folder of runtime/ for its page, from the table of layers. */
import path from 'node:path'
import { MAY_IMPORT } from '../test/layers.ts'
import { code } from './markdown.ts'

/** Returns the folder of a name in the table. A top-level file is its own folder. */
const folderOf = (name: string): string => name.split('/')[0] ?? name

/** Lists the folders that a folder may import, and those that may import it. */
export function mayImport(page: string): string {
  const folder = path.basename(path.dirname(page))
  const from = new Set<string>()
  const by = new Set<string>()
  for (const [row, allowed] of Object.entries(MAY_IMPORT))
    for (const name of allowed.map(folderOf)) {
      if (folderOf(row) === folder && name !== folder) from.add(name)
      if (name === folder && folderOf(row) !== folder) by.add(folderOf(row))
    }
  return `It may import ${listed(from)}. It may be imported by ${listed(by)}.`
}

const listed = (names: ReadonlySet<string>): string =>
  names.size === 0 ? 'no other folder' : [...names].sort().map(code).join(', ')
