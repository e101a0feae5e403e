/** The Markdown pages of this repository and their blocks. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { docsPages } from '../scripts/docs.ts'

export const ROOT: string = path.join(import.meta.dirname, '..')

/** The pages that people read: the first one, and those of the documentation. */
export const PAGES: readonly string[] = ['README.md', ...docsPages()]

export const readPage = (page: string): string => readFileSync(path.join(ROOT, page), 'utf8')

/** A block of code: the page that it stands on, its language, and its text. */
export type Block = { page: string; language: string; text: string }

/** The blocks of a page, in order. */
export const blocksOf = (page: string): Block[] =>
  [...readPage(page).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', text = '']) => ({ page, language, text }),
  )

/**
 * The shell block that begins like this, on any page or on the named one. The same block on several pages
 * counts as one.
 *
 * @throws Error if there is none, or if there are several different ones
 */
export function shellBlock(begins: RegExp, page?: string): string {
  const found = (page === undefined ? PAGES : [page])
    .flatMap(blocksOf)
    .filter(({ language, text }) => language === 'sh' && text.search(begins) === 0)
  const texts = [...new Set(found.map(({ text }) => text))]
  const [text] = texts
  if (text === undefined || texts.length > 1)
    throw new Error(`expected one block that begins with ${begins}, found ${texts.length}`)
  return text
}

/** All files below a folder whose names end like this. */
export const below = (folder: string, end: string): string[] =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end))
    .map((name) => path.posix.join(folder, name))
