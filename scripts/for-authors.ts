/**
 * Reads the exports for authors from the sources: names from the lists of exports; signatures, meanings and
 * examples from the docstrings. A name without a docstring is an error.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type Declared, declaredIn } from './declared.ts'

const RUNTIME = path.join(import.meta.dirname, '..', 'runtime')

export type Exported = Declared & { name: string; isType: boolean }

/** Returns the re-exports of a file, `export { a, type B } from './x.ts'`, in its order. */
export function exportsOf(file: string): Exported[] {
  const lists = [...read(file).matchAll(/^export( type)? \{([^}]*)\} from '([^']+)'/gm)]
  return lists.flatMap(([, allTypes, names = '', from = '']) =>
    names
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '')
      .map((one) => {
        const name = one.replace(/^type /, '')
        const isType = allTypes !== undefined || name !== one
        return { name, isType, ...declaredIn(path.join(path.dirname(file), from), name) }
      }),
  )
}

type Member = { name: string; type: string; meaning: string }

/** Returns the members of `ctx`, each with its type and its meaning. */
export const contextMembers = (): Member[] =>
  membersOf('contract/connector/context.ts', /export type Context<[\s\S]*?> = \{\n([\s\S]*?)\n\}/)

/** Returns the members of `ctx.sign`. */
export const signingMembers = (): Member[] =>
  membersOf('contract/connector/signing.ts', /export type Signing = \{\n([\s\S]*?)\n\}/)

function membersOf(file: string, declared: RegExp): Member[] {
  const [, body = ''] = declared.exec(read(file)) ?? []
  const members = [...body.matchAll(/(?: {2}\/\*\*(.*?)\*\/\n)? {2}(?:readonly )?(\w+)(.*)/g)]
  return members.map(([, doc, name = '', type = '']) => {
    if (doc === undefined) throw new Error(`${file}: ${name} has no docstring`)
    return { name, type: `${name}${type}`, meaning: doc.trim() }
  })
}

const read = (file: string): string => readFileSync(path.join(RUNTIME, file), 'utf8')
