/**
 * Reads the declarations of exports and their docstrings from the sources, as authors see them: the signature
 * without its body, the text, the examples.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'

const RUNTIME = path.join(import.meta.dirname, '..', 'runtime')

/** Declaration of an export. `text` is the whole docstring, `meaning` its first sentence. */
export type Declared = {
  signature: string
  meaning: string
  text: string
  examples: string[]
}

/**
 * Returns the declaration of an export.
 * @throws Error if the export or its docstring is missing
 */
export function declaredIn(file: string, name: string): Declared {
  const source = readFileSync(path.join(RUNTIME, file), 'utf8')
  const at = new RegExp(
    `/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\nexport (?:async )?(type|function\\*?|class|const) ${name}\\b`,
  ).exec(source)
  if (!at) throw new Error(`${file}: ${name} has no docstring`)
  const [all, comment = '', kind = ''] = at
  const begin = at.index + all.lastIndexOf('export ')
  const [text = '', ...examples] = comment.replace(/^[ \t]*\* ?/gm, '').split(/\n@example\n/)
  return {
    signature: SIGNATURES[kind.replace('*', '')]?.(source.slice(begin)) ?? '',
    meaning: firstSentence(text),
    text: text.trim(),
    examples: examples.map((one) => one.trim()),
  }
}

/** Returns the first sentence of a docstring. */
export function firstSentence(text: string): string {
  const paragraph =
    text
      .split(/\n\s*\n|\n@/)[0]
      ?.replace(/\s+/g, ' ')
      .trim() ?? ''
  return /^.*?[.?](?= [A-Z`]|$)/.exec(paragraph)?.[0] ?? paragraph
}

/** By kind: returns the declaration at the beginning of a text, in the form of a declaration file. */
const SIGNATURES: Record<string, (source: string) => string> = {
  // The formatter puts a body's brace at the end of the line with the result's type.
  function: (source) => ambient(upTo(source, / \{\n {2}/)),
  const: (source) =>
    ambient(upTo(source, / =>/)).replace(/^declare const (\w+) = /, 'declare function $1'),
  type: (source) =>
    upTo(source, /\n(?=\n|\/\*\*|const |export |function )/)
      .replace(/^export /, '')
      .replace(/ *\/\/ biome-ignore .*\n/g, '')
      .replaceAll('Pick<Context,', 'Pick<ConnectorContext,'),
  class: (source) =>
    ambient(upTo(source, /\n\}/))
      .replace(/ {2}\/\*\*[\s\S]*?\*\/\n/g, '')
      .replace(/ \{\n(?: {4}.*\n|\n)* {2}\}/g, '')
      .concat('\n}'),
}

function upTo(source: string, end: RegExp): string {
  const found = end.exec(source)
  return found ? source.slice(0, found.index) : source
}

/** Removes parts that only code has: `async` and defaults of parameters. */
function ambient(text: string): string {
  return text
    .replace(/^export /, 'declare ')
    .replace(/\basync /g, '')
    .replace('function* ', 'function ')
    .replace(/^( +\w+)(: .*) = [^,]+,$/gm, '$1?$2,')
    .replace(/(\w+): ([^,={}]+) = [^,)\n]+/g, '$1?: $2')
    .replace(/(\w+) = '[^']*'(?=[,)])/g, '$1?: string')
    .replace(/(\w+) = \d+(?=[,)])/g, '$1?: number')
    .replaceAll('Pick<Context,', 'Pick<ConnectorContext,')
}
