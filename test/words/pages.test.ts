/** Pages for people contain no literal texts: all texts come from the catalogue. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const HTTP = path.join(import.meta.dirname, '..', '..', 'runtime', 'http')
const FILES = [
  ...readdirSync(path.join(HTTP, 'pages')).map((name) => `pages/${name}`),
  ...readdirSync(path.join(HTTP, 'console')).map((name) => `console/${name}`),
  ...['frame/layout.ts', 'frame/error-page.ts'],
  ...['settings/sign-in-routes.ts', 'settings/tokens-page.ts', 'settings/token-form.ts'],
]

/** Names that are the same in every language: the product, a file, what people type, keys. */
const NAMES =
  /\b(?:Keyway|Enter|npx keyway login-link|authorization: Bearer|lsk_|docs|APP_CREATED)\b/g

/** Values of the core, which pages do not show. */
const VALUES: readonly string[] = ['Keyway', 'Unlimited', 'User', 'Connector', 'Failed']

/** The text of templates that are tagged `html`, without the inserted values. */
function textOf(source: string): string {
  let text = ''
  /** Of each template or `${` that is open: whether its text counts; null for code. */
  const open: (boolean | null)[] = []
  for (let at = 0; at < source.length; at += 1) {
    const inside = open.at(-1)
    const isTemplate = inside === true || inside === false
    if (isTemplate && source.startsWith('${', at)) {
      open.push(null)
      at += 1
    } else if (source[at] === '`') {
      if (isTemplate) open.pop()
      else open.push(source.slice(0, at).endsWith('html'))
    } else if (isTemplate) {
      if (source[at] === '\\') at += 1
      else if (inside) text += source[at]
    } else if (inside === null && source[at] === '{') open.push(null)
    else if (inside === null && source[at] === '}') open.pop()
  }
  return text
}

const withoutComments = (source: string): string =>
  source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(?<!:)\/\/[^\n]*/g, '')

test('textOf returns the text of html templates and nothing else', () => {
  // Written with `@` instead of `$`, which this file would evaluate.
  const written =
    'const a = html`<p class="x">@{one(`not @{this}`)}Read @{b ? html`<b>me</b>` : 0}</p>`'
  const source = written.replaceAll('@', '$')
  expect(textOf(source)).toBe('<p class="x">Read <b>me</b></p>')
})

test.each(FILES)('%s contains no literal text for people', (file) => {
  const source = withoutComments(readFileSync(path.join(HTTP, file), 'utf8'))
  const text = textOf(source)
  const spoken = [...text.matchAll(/\s(?:aria-label|placeholder|alt|title)="([^"]*)"/g)].map(
    ([, words = '']) => words,
  )
  const shown = text.replace(/<[^>]*>/g, ' ')
  const left = [shown, ...spoken].join(' ').replace(NAMES, ' ')
  expect(left.match(/\p{L}{2,}[^<]{0,40}/gu) ?? []).toEqual([])
  // Thrown errors belong to the core, whose errors are English everywhere.
  const code = source
    .replace(/(?:new CoreError|badRequest|conflict|forbidden|enforcePageRate)\([^)]*\)/g, '')
    .replace(/log\.\w+\([^)]*\)/g, '')
  const sentences = [...code.matchAll(/'([A-Z][a-z]+(?: [^'\n]*)?)'/g)].map(([, words]) => words)
  expect(sentences.filter((words) => words !== undefined && !VALUES.includes(words))).toEqual([])
})
