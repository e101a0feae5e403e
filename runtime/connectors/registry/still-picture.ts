/**
 * Whether an SVG is a still picture that stands alone. A host serves logos so that nothing in them runs; other web servers,
 * such as that of a registry, may not. It is read as strictly as XML is written, so that no browser reads it in another way.
 */

/** Elements that run something, or hold what is no SVG. */
const LIVELY = new Set(
  'script foreignobject iframe embed object audio video handler listener'.split(' '),
)
const XHTML = 'http://www.w3.org/1999/xhtml'

const ATTRIBUTE = /\s+([^\s=<>"'/]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/gy
/** A comment, CDATA, an instruction, a document type, an end, an element, text. */
const TOKEN =
  /<!--[\s\S]*?-->|<!\[CDATA\[(?<data>[\s\S]*?)\]\]>|<\?(?<instruction>[^\s?]+)(?<said>[\s\S]*?)\?>|<!DOCTYPE(?:[^<>[\]"']|"[^"]*"|'[^']*')*>|<\/[^<>]*>|<(?<element>[^\s<>/!?="']+)(?<attributes>(?:\s+[^\s=<>"'/]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*\/?>|(?<text>[^<]+)/gy

/** What is wrong with it, with what to do; null for a still picture. */
export function stillPictureFault(content: Buffer): string | null {
  let rest: string
  try {
    rest = new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch {
    return 'it is not in UTF-8; save it so'
  }
  let read = 0
  let written = ''
  for (const { 0: token, groups = {} } of rest.matchAll(TOKEN)) {
    read += token.length
    const fault = tokenFault(groups)
    if (fault !== null) return fault
    written += groups.data ?? decoded(groups.text ?? '')
  }
  if (read < rest.length)
    return `it cannot be read from ${JSON.stringify(rest.slice(read, read + 20))} on; save it as plain SVG`
  // As one: a comment inside a style takes nothing out of it.
  return styleFault(written)
}

type Groups = Partial<Record<string, string>>

function tokenFault({ instruction, said, element, attributes }: Groups): string | null {
  if (instruction !== undefined)
    return /^xml$/.test(instruction) && !/encoding\s*=\s*["'](?!utf-8["'])/i.test(said ?? '')
      ? null
      : `it holds <?${instruction}${said?.slice(0, 40)}?>; take it out, and save it in UTF-8`
  if (element === undefined) return null
  const name = localName(element)
  if (LIVELY.has(name)) return `it holds <${element}>; take it out`
  for (const [, attribute = '', double, single] of (attributes ?? '').matchAll(ATTRIBUTE)) {
    const value = decoded(double ?? single ?? '')
    if (isLively(localName(attribute), value))
      return `it holds ${attribute}=${JSON.stringify(value.slice(0, 40))}; take it out`
    const fault = styleFault(value)
    if (fault !== null) return fault
  }
  return null
}

function isLively(attribute: string, value: string): boolean {
  if (/^on/.test(attribute)) return true
  if (attribute === 'attributename') return /^on|href$/i.test(value.trim())
  if (value.trim() === XHTML) return true
  return (
    (attribute === 'href' || attribute === 'src') &&
    !/^\s*(#|data:image\/(png|jpeg|gif|webp)[;,]|$)/i.test(value)
  )
}

const LOADS =
  /@import|\\[0-9a-z]|\burl\((?!\s*["']?\s*(?:#|data:image\/(?:png|jpeg|gif|webp)[;,]))[^)]{0,40}/i

/** Styles, wherever they stand, load nothing; a backslash would hide what they load. */
function styleFault(text: string): string | null {
  // Else many spaces behind one bracket would be tried in all ways to part them.
  const [found] = LOADS.exec(text.replaceAll(/\s+/g, ' ')) ?? []
  return found === undefined ? null : `it holds ${JSON.stringify(found)}; put into it what it loads`
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1).toLowerCase()

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The value with its references resolved. */
const decoded = (value: string): string =>
  value.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return NAMED[name] ?? whole
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
