/** Files that every page loads. They are the same for every visitor and cached by an entity tag. */
import { Hono } from 'hono'
import { answerDocument, lazyDocument } from '../edge/cached-documents.ts'
import type { Env } from '../edge/env.ts'
import { FAVICON } from './icons.ts'
import { SCRIPT } from './script.ts'
import { STYLE } from './style/style.ts'

/** Headers of a file, which may neither load nor run anything else. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
}

const FILES = {
  'keyway.css': lazyDocument('text/css; charset=utf-8', () => STYLE),
  'keyway.js': lazyDocument('text/javascript; charset=utf-8', () => SCRIPT),
  'keyway.svg': lazyDocument('image/svg+xml', () => FAVICON),
} as const

/** Returns the path of a file. */
export const assetAt = (name: keyof typeof FILES): string => `/assets/${name}`

export function assetRoutes(): Hono<Env> {
  const routes = new Hono<Env>()
  for (const [name, made] of Object.entries(FILES))
    routes.get(`/${name}`, async (c) => answerDocument(c, await made(), HEADERS))
  return routes
}
