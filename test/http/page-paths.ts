/** Every page for people, from the tables of pages: the list for tests of size, speed and appearance. */
import { CONSOLE_PAGES } from '../../runtime/http/console/table.ts'
import { PAGES } from '../../runtime/http/pages/table.ts'
import { SETTINGS_PAGES } from '../../runtime/http/settings/layout.ts'

/** Pages that redirect, or are a file. */
const NONE = ['start', 'sign_in', 'begin', 'callback', 'consented', 'evidence', 'person_evidence']

/**
 * Addresses by the names of their pages.
 *
 * @param known Values for the parameters of an address, such as `app_id`; for `:id`, by the name of the page.
 */
export function pagePaths(known: Readonly<Record<string, string>>): Map<string, string> {
  const all = Object.entries({ ...CONSOLE_PAGES, ...PAGES, ...SETTINGS_PAGES })
    .filter(([name]) => !NONE.includes(name))
    .map(([name, { path }]): [string, string] => [
      name,
      path.replace(/:(\w+)/g, (whole, part: string) => known[part === 'id' ? name : part] ?? whole),
    ])
  return new Map(all.filter(([, path]) => !path.includes(':')))
}
