/** Markdown is rendered as safe HTML, whatever the text contains. */
import { expect, test } from 'vitest'
import { atOnce } from '../../../runtime/bounded/slices.ts'
import { renderSteps } from '../../../runtime/http/docs/markdown.ts'
import { resolveLink } from '../../../runtime/http/docs/pages.ts'

const FROM = 'runtime/docs/operate/tls.md'
const rendered = (text: string) => atOnce(renderSteps(text, (to) => resolveLink(FROM, to)))
const htmlOf = (text: string) => rendered(text).html

test.each([
  ['an element', '<script>alert(1)</script>'],
  ['an element in a line', 'so <img src=x onerror=alert(1)> it goes'],
  ['a block of HTML', '<div onclick="alert(1)">\n\ntext\n\n</div>'],
  ['a heading', '# <script>alert(1)</script>'],
  ['a cell of a table', '| a |\n|---|\n| <script>alert(1)</script> |'],
  ['the head of a table', '| <b onclick=x>a</b> |\n|---|\n| 1 |'],
  ['code', '`<script>`\n\n```\n</code><script>alert(1)</script>\n```'],
  ['the name of a language', '```"><script>alert(1)</script>\nx\n```'],
  ['the text of a picture', '![<script>"onerror=alert(1)](../picture.svg)'],
  ['the title of a link', '[a](install.md "><script>alert(1)</script>")'],
  ['a comment', '<!-- <script>alert(1)</script> -->'],
])('%s adds no HTML element', (_what, text) => {
  const html = htmlOf(text)
  const elements = [...html.matchAll(/<([a-z0-9]+)/gi)].map(([, name]) => name?.toLowerCase())
  const known = ['a', 'code', 'div', 'h1', 'img', 'p', 'picture', 'pre', 'source', 'table', 'tbody']
  expect(
    elements.filter((one) => ![...known, 'td', 'th', 'thead', 'tr'].includes(one ?? '')),
  ).toEqual([])
  expect(html.replace(/="[^"]*"/g, '')).not.toMatch(/<[^>]*\son\w+/i)
})

test.each([
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'data:text/html,x',
  'vbscript:x',
  '//evil.example/x',
  '/etc/passwd',
  '../../../../etc/passwd',
  'ftp://x.example',
  'unknown.md',
  '\\\\evil.example',
])('a link to %s is rendered as plain text', (target) => {
  expect(htmlOf(`[text](<${target}>)`)).toBe('<p>text</p>\n')
})

test.each([
  ['install.md', '/docs/operate/install'],
  ['install.md#from-a-package', '/docs/operate/install#from-a-package'],
  ['#names', '#names'],
  ['../README.md', '/docs'],
  ['../../spec/service.md', '/docs/specification/service'],
  ['../../../plugins/scim/', '/docs/connectors/scim'],
  ['../../../scripts/deploy/nginx.conf', '/docs/files/scripts/deploy/nginx.conf'],
  ['https://example.com/a?b=1&c=2', 'https://example.com/a?b=1&amp;c=2'],
])('a link to %s leads to %s', (target, address) => {
  expect(htmlOf(`[text](${target})`)).toBe(`<p><a href="${address}">text</a></p>\n`)
})

test('a picture has a light and a dark form', () => {
  const html = htmlOf('![The rooms](../picture.svg)')
  expect(html).toContain('media="(prefers-color-scheme: dark)"')
  expect(html).toContain('srcset="/docs/files/runtime/docs/picture-dark.svg"')
  expect(html).toContain('src="/docs/files/runtime/docs/picture.svg" alt="The rooms"')
})

test('a screenshot has a light and a dark form', () => {
  const html = htmlOf('![The inbox](../pictures/inbox.webp)')
  expect(html).toContain('srcset="/docs/files/runtime/docs/pictures/inbox-dark.webp"')
  expect(html).toContain('src="/docs/files/runtime/docs/pictures/inbox.webp" alt="The inbox"')
})

test('a picture from another site is rendered as its text', () => {
  expect(htmlOf('![The rooms](https://evil.example/x.svg)')).toBe('<p>The rooms</p>\n')
})

test('headings have the ids that links on GitHub use, each once', () => {
  const { headings, title } = rendered(
    '# A page\n\n## Who decides, and when?\n\n## `GET /healthz`\n\n## Same\n\n## Same\n\n```sh\n# no heading\n```',
  )
  expect(title).toBe('A page')
  expect(headings.map(({ id }) => id)).toEqual([
    'a-page',
    'who-decides-and-when',
    'get-healthz',
    'same',
    'same-1',
  ])
})

test('sections are plain text, without the markers of generated parts', () => {
  const { sections, html } = rendered('# A\n\n<!-- limits: x -->\n\n## B & C\n\n`a < b` *and* so')
  expect(sections).toEqual([
    { id: 'a', heading: 'A', text: '' },
    { id: 'b--c', heading: 'B & C', text: 'a < b and so' },
  ])
  expect(html).not.toContain('limits')
})
