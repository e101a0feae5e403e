/**
 * Renders Markdown as HTML. It is safe for any input: HTML is shown as text, a link leads only where
 * `resolve` allows, and everything else is escaped.
 */
import { Marked, type RendererObject, type Token, type Tokens } from 'marked'
import type { Steps } from '../../bounded/slices.ts'
import { escapeText } from './escape-text.ts'

/** A heading and the id that links to it, as GitHub makes it. */
type Heading = { depth: number; id: string; text: string }

/** Plain text below a heading, for the search. */
type Section = { id: string; heading: string; text: string }

export type Rendered = {
  title: string
  html: string
  headings: readonly Heading[]
  sections: readonly Section[]
}

/** Returns the target of a link. If it is null, the link is shown as text. */
type ResolveLink = (target: string) => string | null

/** Length of cells, in characters, above which a table is shown as a list on a narrow screen. */
const LONG_CELL = 40

/** Returns the text of HTML that was made here. */
const textOf = (html: string): string =>
  html
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim()

/** Renders a page block by block, so that other work runs in between. */
export function* renderSteps(markdown: string, resolve: ResolveLink): Steps<Rendered> {
  const headings: Heading[] = []
  const marked = new Marked<string, string>({
    gfm: true,
    renderer: rendererOf(resolve, idMaker(), headings),
  })
  const sections: Section[] = []
  const html: string[] = []
  for (const block of blocksOf(markdown)) {
    const before = headings.length
    const made = marked.parser(marked.lexer(block))
    html.push(made)
    const heading = headings.length > before ? headings[before] : undefined
    const text = textOf(made.replace(/<h\d[^>]*>.*<\/h\d>/, ''))
    sections.push({ id: heading?.id ?? '', heading: heading?.text ?? '', text })
    yield
  }
  const title = headings[0]?.text ?? ''
  return { title, html: html.join(''), headings, sections }
}

/** Splits the text before each heading. Lines in a code block are not headings. */
function blocksOf(markdown: string): string[] {
  const blocks: string[][] = [[]]
  let isCode = false
  for (const line of withoutComments(markdown).split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    if (!isCode && /^#{1,6} /.test(line)) blocks.push([])
    blocks.at(-1)?.push(line)
  }
  return blocks.map((lines) => lines.join('\n')).filter((block) => block.trim() !== '')
}

/** Removes the markers of generated parts. */
const withoutComments = (markdown: string): string => markdown.replace(/^<!--[^>]*-->$/gm, '')

/** Creates ids as GitHub makes them, so that the same links work here. */
function idMaker(): (text: string) => string {
  const seen = new Map<string, number>()
  return (text) => {
    const id = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-')
    const times = seen.get(id) ?? 0
    seen.set(id, times + 1)
    return times === 0 ? id : `${id}-${times}`
  }
}

function rendererOf(
  resolve: ResolveLink,
  makeId: (text: string) => string,
  headings: Heading[],
): RendererObject<string, string> {
  return {
    html: ({ text }) => escapeText(text),
    heading({ tokens, depth }) {
      const html = this.parser.parseInline(tokens)
      const text = textOf(html)
      const id = makeId(text)
      headings.push({ depth, id, text })
      const link =
        depth === 1 ? '' : ` <a class="anchor" href="#${id}" aria-hidden="true" tabindex="-1">#</a>`
      return `<h${depth} id="${id}">${html}${link}</h${depth}>\n`
    },
    link({ href, tokens }) {
      const html = this.parser.parseInline(tokens)
      const to = resolve(href)
      return to === null ? html : `<a href="${escapeText(to)}">${html}</a>`
    },
    image: ({ href, text }) => imageOf(resolve(href), text),
    code: ({ text }) => `<pre tabindex="0"><code>${escapeText(text)}</code></pre>\n`,
    table({ header, rows }) {
      const inline = (tokens: Token[]) => this.parser.parseInline(tokens)
      return tableOf(header, rows, inline)
    },
  }
}

/** Renders a picture. A picture of this host has a dark form next to the light one. */
function imageOf(address: string | null, text: string): string {
  if (address === null || !address.startsWith('/docs/')) return escapeText(text)
  const dark = escapeText(address.replace(/\.(svg|webp)$/, '-dark.$1'))
  return `<picture><source media="(prefers-color-scheme: dark)" srcset="${dark}"><img src="${escapeText(address)}" alt="${escapeText(text)}"></picture>`
}

function tableOf(
  header: Tokens.TableCell[],
  rows: Tokens.TableCell[][],
  inline: (tokens: Token[]) => string,
): string {
  const heads = header.map(({ tokens }) => inline(tokens))
  const isLong = rows.some((cells) => cells.some(({ text }) => text.length > LONG_CELL))
  const body = rows.map((cells) => {
    const line = cells.map(({ tokens }, index) => {
      const label = textOf(heads[index] ?? '')
      return `<td${label === '' ? '' : ` data-label="${escapeText(label)}"`}>${inline(tokens)}</td>`
    })
    return `<tr>${line.join('')}</tr>`
  })
  const head = heads.map((one) => `<th scope="col">${one}</th>`).join('')
  return `<div class="scroll" tabindex="0" role="region" aria-label="Table"><table${isLong ? ' class="long"' : ''}><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>\n`
}
