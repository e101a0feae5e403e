/** The pictures of the documentation: each is in the table, small, and shown with an alternative text. */
import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { PICTURE_FILES, PICTURES, PICTURES_FOLDER } from '../runtime/http/docs/pictures.ts'
import { PICTURE_LIMITS, SHOTS } from '../scripts/pictures.ts'
import { PAGES, ROOT, readPage } from './pages.ts'

const bytesOf = (file: string): number => statSync(path.join(ROOT, file)).size

/** Every picture of a page with its alternative text, in either form. */
const shown = PAGES.flatMap((page) =>
  [
    ...readPage(page).matchAll(
      /!\[(?<alt>[^\]]*)\]\((?<file>[^)]+\.webp)\)|<img alt="(?<altOfHtml>[^"]*)" src="(?<fileOfHtml>[^"]+\.webp)">/g,
    ),
  ].map(({ groups = {} }) => ({
    page,
    alt: groups['alt'] ?? groups['altOfHtml'] ?? '',
    file: path.posix.join(path.posix.dirname(page), groups['file'] ?? groups['fileOfHtml'] ?? ''),
  })),
)

test('the files are those of the table, and the script takes all of them', () => {
  const there = readdirSync(path.join(ROOT, PICTURES_FOLDER)).map((name) =>
    path.posix.join(PICTURES_FOLDER, name),
  )
  expect(there.sort()).toEqual(PICTURE_FILES.toSorted())
  expect(Object.keys(SHOTS)).toEqual(Object.keys(PICTURES))
})

test.each(PICTURE_FILES)('%s is small', (file) => {
  expect(bytesOf(file)).toBeLessThanOrEqual(PICTURE_LIMITS.maxBytes)
})

test('all pictures together are small', () => {
  const sum = PICTURE_FILES.map(bytesOf).reduce((all, one) => all + one, 0)
  expect(sum).toBeLessThanOrEqual(PICTURE_LIMITS.maxBytesInAll)
})

test('each picture is shown by a page of the documentation, and each shown picture is in the table', () => {
  const light = PICTURE_FILES.filter((file) => !file.endsWith('-dark.webp'))
  const inDocs = shown.filter(({ page }) => page !== 'README.md').map(({ file }) => file)
  expect([...new Set(inDocs)].sort()).toEqual(light.toSorted())
  expect(shown.some(({ page }) => page === 'README.md')).toBe(true)
  expect(shown.filter(({ file }) => !PICTURE_FILES.includes(file))).toEqual([])
})

test.each(shown)('$file on $page has an alternative text', ({ alt }) => {
  expect(alt).toMatch(/^[A-Z].{40,300}\.$/)
})
