/** The files that every page loads: the same for everybody, with a tag by which a browser keeps them. */
import { Hono } from 'hono'
import type { Env } from '../edge/env.ts'
import { answerKept, madeOnce } from '../edge/kept.ts'
import { FAVICON } from './icons.ts'
import { SCRIPT } from './script.ts'
import { STYLE } from './style/style.ts'

/** A file: nothing of it may load or run anything else. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
}

const FILES = {
  'keyway.css': madeOnce('text/css; charset=utf-8', () => STYLE),
  'keyway.js': madeOnce('text/javascript; charset=utf-8', () => SCRIPT),
  'keyway.svg': madeOnce('image/svg+xml', () => FAVICON),
} as const

/** Where a file is served. */
export const assetAt = (name: keyof typeof FILES): string => `/assets/${name}`

export function assetRoutes(): Hono<Env> {
  const routes = new Hono<Env>()
  for (const [name, made] of Object.entries(FILES))
    routes.get(`/${name}`, async (c) => answerKept(c, await made(), HEADERS))
  return routes
}
