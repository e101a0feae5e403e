/** Every link between the Markdown files of this repository leads to a file, and to a heading of it. */
import { execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { atOnce } from '../runtime/bounded/slices.ts'
import { renderSteps } from '../runtime/http/docs/markdown.ts'
import { ROOT, readPage } from './pages.ts'

const tracked = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '--', '*.md'],
  { cwd: ROOT, encoding: 'utf8' },
)
const pages = tracked.split('\n').filter((page) => page !== '' && existsSync(path.join(ROOT, page)))

const ids = new Map<string, ReadonlySet<string>>()
function idsOf(page: string): ReadonlySet<string> {
  const known =
    ids.get(page) ??
    new Set(atOnce(renderSteps(readPage(page), () => null)).headings.map(({ id }) => id))
  ids.set(page, known)
  return known
}

test.each(pages)('every link of %s leads somewhere', (page) => {
  const text = readPage(page)
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, '')
  const links = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)]
    .map(([, link, picture]) => link ?? picture ?? '')
    .filter((link) => !/^[a-z]+:/.test(link))
  const broken = links.filter((link) => {
    const [file = '', hash] = link.split('#')
    const target = file === '' ? page : path.posix.join(path.posix.dirname(page), file)
    const full = path.join(ROOT, target)
    if (!existsSync(full)) return true
    if (hash === undefined) return false
    return statSync(full).isDirectory() || !idsOf(target).has(hash)
  })
  expect(broken).toEqual([])
})
