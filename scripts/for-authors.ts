/**
 * What authors import, read from the sources: names from the lists of exports, meanings from the first
 * sentence of each docstring. A name without one does not get through.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'

const RUNTIME = path.join(import.meta.dirname, '..', 'runtime')

export type Exported = { name: string; isType: boolean; meaning: string }

/** What a file exports of others: `export { a, type B } from './x.ts'`, in alphabetical order. */
export function exportsOf(file: string): Exported[] {
  const lists = [...read(file).matchAll(/^export( type)? \{([^}]*)\} from '([^']+)'/gm)]
  const all = lists.flatMap(([, allTypes, names = '', from = '']) =>
    names
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '')
      .map((one) => {
        const name = one.replace(/^type /, '')
        const isType = allTypes !== undefined || name !== one
        return { name, isType, meaning: meaningOf(path.join(path.dirname(file), from), name) }
      }),
  )
  return all.sort((a, b) => a.name.localeCompare(b.name))
}

type Member = { name: string; type: string; meaning: string }

/** The members of `ctx`: each with its type and its meaning. */
export const contextMembers = (): Member[] =>
  membersOf('contract/context.ts', /export type Context<[\s\S]*?> = \{\n([\s\S]*?)\n\}/)

/** The members of `ctx.sign`. */
export const signingMembers = (): Member[] =>
  membersOf('contract/signing.ts', /export type Signing = \{\n([\s\S]*?)\n\}/)

function membersOf(file: string, declared: RegExp): Member[] {
  const [, body = ''] = declared.exec(read(file)) ?? []
  const members = [...body.matchAll(/(?: {2}\/\*\*(.*?)\*\/\n)? {2}(?:readonly )?(\w+)(.*)/g)]
  return members.map(([, doc, name = '', type = '']) => {
    if (doc === undefined) throw new Error(`${file}: ${name} has no docstring`)
    return { name, type: `${name}${type}`, meaning: doc.trim() }
  })
}

/** The first sentence of the docstring above an export. */
function meaningOf(file: string, name: string): string {
  const declared = `export (?:async )?(?:type|function\\*?|class|const) ${name}\\b`
  const found = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\n${declared}`).exec(read(file))
  if (!found) throw new Error(`${file}: ${name} has no docstring`)
  const text = (found[1] as string)
    .replace(/^\s*\* ?/gm, '')
    .split(/\n\s*\n|\n@/)[0]
    ?.replace(/\s+/g, ' ')
    .trim()
  return /^.*?[.?](?= [A-Z`]|$)/.exec(text ?? '')?.[0] ?? `${text}`
}

const read = (file: string): string => readFileSync(path.join(RUNTIME, file), 'utf8')
