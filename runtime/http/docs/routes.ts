/** The documentation below /docs. */
import { type Context, Hono } from 'hono'
import { inSlices } from '../../bounded/slices.ts'
import { DOCS_STYLE, docsPageSteps } from '../documents/docs-page.ts'
import type { OpenApiDocument } from '../documents/document.ts'
import { answerDocument, lazyDocument } from '../edge/cached-documents.ts'
import type { Env } from '../edge/env.ts'
import { createLibrary } from './library.ts'
import { PAGES_STYLE } from './style.ts'

/** Headers of a page. It may show itself, its style and pictures of this host, and send the search form. */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
}

/** Headers of a picture or a text, which may neither load nor run anything. */
const FILE_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
}

const HTML = 'text/html; charset=UTF-8'

/**
 * Creates the routes of the documentation.
 *
 * @param document Makes the OpenAPI document.
 */
export function docsRoutes(document: () => Promise<OpenApiDocument>): Hono<Env> {
  const app = new Hono<Env>()
  const library = createLibrary(document)
  const reference = lazyDocument(HTML, async () => inSlices(docsPageSteps(await document())))
  const style = lazyDocument('text/css; charset=utf-8', () => PAGES_STYLE)
  const referenceStyle = lazyDocument('text/css; charset=utf-8', () => DOCS_STYLE)

  app.get('/docs.css', async (c) => answerDocument(c, await referenceStyle()))
  app.get('/docs/style.css', async (c) => answerDocument(c, await style()))
  app.get('/docs/api', async (c) => answerDocument(c, await reference(), PAGE_HEADERS))
  app.get('/docs/search', async (c) => {
    return c.html(await library.search(c.req.query('q') ?? ''), 200, PAGE_HEADERS)
  })
  app.get('/docs', async (c) => answerPage(c, ''))
  app.get('/docs/', (c) => c.redirect('/docs', 301))
  app.get('/docs/*', async (c) => answerPage(c, c.req.path.slice('/docs/'.length)))

  async function answerPage(c: Context<Env>, slug: string): Promise<Response> {
    const found = await library.find(slug)
    if (found) {
      const isFile = slug.startsWith('files/')
      return answerDocument(c, found, isFile ? FILE_HEADERS : PAGE_HEADERS)
    }
    return c.html(await library.missing(), 404, PAGE_HEADERS)
  }
  return app
}
