/** Web links in the `Link` header: RFC 8288. */
import type { UpstreamReply } from '../contract/connector/context.ts'

/**
 * Returns the absolute address of the response's link with this relation, or null if there is none, as on the
 * last page. Relative addresses are resolved against the address of the response.
 *
 * @example
 * const reply = await api.request('GET', textCursor(ctx) ?? '/users?per_page=100')
 * const next = nextLink(reply) // Link: <https://api.example/users?page=2>; rel="next"
 */
export function nextLink(
  reply: Pick<UpstreamReply, 'url' | 'headers'>,
  rel = 'next',
): string | null {
  const wanted = rel.toLowerCase()
  const link = parseLinks(reply.headers.get('link') ?? '').find((one) => one.rels.includes(wanted))
  return link === undefined || !URL.canParse(link.target, reply.url)
    ? null
    : new URL(link.target, reply.url).href
}

type Link = { target: string; rels: string[] }

function parseLinks(header: string): Link[] {
  return splitOutside(header, ',').flatMap((text) => {
    const [target = '', ...parameters] = splitOutside(text, ';')
    const address = /^<([^>]*)>$/.exec(target)?.[1]
    return address === undefined ? [] : [{ target: address.trim(), rels: relsOf(parameters) }]
  })
}

/** Returns the relations of a link. Only its first `rel` counts (RFC 8288 section 3.3). */
function relsOf(parameters: string[]): string[] {
  const rel = parameters
    .map((parameter) => /^([^=\s]+)\s*=\s*([\s\S]*)$/.exec(parameter))
    .find((match) => match?.[1]?.toLowerCase() === 'rel')
  return unquoted(rel?.[2] ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((one) => one !== '')
}

const unquoted = (text: string): string =>
  text.startsWith('"') ? text.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1') : text

/** Splits at separators outside of quoted strings and of `<...>`, in one pass. */
function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = ['']
  let inside: '"' | '>' | null = null
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i)
    if (inside === null && character === separator) {
      parts.push('')
      continue
    }
    parts[parts.length - 1] += character
    if (inside === '"' && character === '\\') parts[parts.length - 1] += text[++i] ?? ''
    else if (character === inside) inside = null
    else if (inside === null && character === '"') inside = '"'
    else if (inside === null && character === '<') inside = '>'
  }
  return parts.map((part) => part.trim())
}
