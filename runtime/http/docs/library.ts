/** The pages of the documentation. Each is read and rendered on first use, and kept. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { inSlices } from '../../bounded/slices.ts'
import { type OpenApiDocument, operationsOf } from '../documents/document.ts'
import { type KeptDocument, keepDocument, lazyDocument } from '../edge/cached-documents.ts'
import { missingMarkup, pageMarkup, searchMarkup, type Titles } from './layout.ts'
import type { Rendered } from './markdown.ts'
import { DOCS_PAGES, type DocsPage, docsAddressOf, FILES, PACKAGE, resolveLink } from './pages.ts'
import { type Index, indexOf, type SearchEntry, search } from './search.ts'

const HTML = 'text/html; charset=UTF-8'

type Library = {
  /** Returns the document at an address below /docs, such as `operate/tls` or `files/...`, or null. */
  find(slug: string): Promise<KeptDocument | null>
  search(query: string): Promise<string>
  missing(): Promise<string>
}

/**
 * Creates the library. Nothing is read yet.
 *
 * @param document Makes the OpenAPI document, whose operations the search covers.
 */
export function createLibrary(document: () => Promise<OpenApiDocument>): Library {
  const read = onceFor((page: DocsPage) => rendered(page))
  const titles = once(async (): Promise<Titles> => {
    const all = DOCS_PAGES.map(
      async (page) => [page.slug, titleOf(await textOf(page.file))] as const,
    )
    return new Map(await Promise.all(all))
  })
  const index = once(async (): Promise<Index> => {
    const entries: SearchEntry[] = []
    for (const page of DOCS_PAGES) entries.push(...entriesOf(page, await read(page)))
    return indexOf([...entries, ...operationEntries(await document())])
  })
  const pages = new Map(
    DOCS_PAGES.map((page) => [
      page.slug,
      lazyDocument(HTML, async () =>
        String(await pageMarkup(page, await read(page), await titles())),
      ),
    ]),
  )
  const files = new Map(
    Object.entries(FILES).map(([file, type]) => [
      `files/${file}`,
      once(async () => keepDocument(await readFile(path.join(PACKAGE, file)), type)),
    ]),
  )
  return {
    find: async (slug) => (await (pages.get(slug) ?? files.get(slug))?.()) ?? null,
    search: async (query) =>
      String(await searchMarkup(query, search(await index(), query), await titles())),
    missing: async () => String(await missingMarkup(await titles())),
  }
}

const textOf = (file: string): Promise<string> => readFile(path.join(PACKAGE, file), 'utf8')

/** Loads the parser with the first page. A host that shows none does not need it. */
async function rendered({ file }: DocsPage): Promise<Rendered> {
  const { renderSteps } = await import('./markdown.ts')
  return inSlices(renderSteps(await textOf(file), (target) => resolveLink(file, target)))
}

/** Returns the first heading. */
const titleOf = (markdown: string): string => /^# (.+)$/m.exec(markdown)?.[1] ?? ''

const entriesOf = (page: DocsPage, { title, sections }: Rendered): SearchEntry[] =>
  sections.map(({ id, heading, text }, at) => ({
    address: at === 0 || id === '' ? docsAddressOf(page) : `${docsAddressOf(page)}#${id}`,
    page: title,
    heading,
    text,
  }))

const operationEntries = (document: OpenApiDocument): SearchEntry[] =>
  operationsOf(document).map(({ path: at, method, operation }) => ({
    address: `/docs/api#${operation.operationId}`,
    page: 'API reference',
    heading: operation.operationId,
    text: `${method.toUpperCase()} ${at} ${operation.summary} ${operation.description ?? ''}`,
  }))

/** Makes a value on first use. A failure is not kept. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null
      throw error
    })
    return made
  }
}

/** Does the same for each of a fixed number of keys. */
function onceFor<K, T>(make: (key: K) => Promise<T>): (key: K) => Promise<T> {
  const all = new Map<K, () => Promise<T>>()
  return (key) => {
    const known = all.get(key) ?? once(() => make(key))
    all.set(key, known)
    return known()
  }
}
