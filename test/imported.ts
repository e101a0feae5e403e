/** Imports between the source files, as TypeScript reads them. */
import path from 'node:path'
import type { SourceFile, Statement } from 'typescript/unstable/ast'
import {
  isExportDeclaration,
  isFunctionDeclaration,
  isIdentifier,
  isImportDeclaration,
  isNamedExports,
  isNamedImports,
  isStringLiteral,
  isVariableStatement,
} from 'typescript/unstable/ast/is'
import { isExported } from './source-tree.ts'

/** Stands for every name of a file: `import * as`, `export *`, `import('./file.ts')`. */
export const ALL = '*'

/** `import('./file.ts')`, also in a type: which of its names are used is unknown. */
const WHOLE = /\bimport\(\s*'(\.[^']+)'/g

type Taken = { target: string; names: readonly string[] }

function takenBy(statement: Statement): Taken[] {
  const isImport = isImportDeclaration(statement)
  if (!isImport && !isExportDeclaration(statement)) return []
  const { moduleSpecifier: from } = statement
  if (!from || !isStringLiteral(from)) return []
  const named = isImport ? statement.importClause?.namedBindings : statement.exportClause
  const names =
    named && (isNamedImports(named) || isNamedExports(named))
      ? named.elements.map((one) => (one.propertyName ?? one.name).text)
      : [ALL]
  return [{ target: from.text, names }]
}

/** File -> names that other files import from it. */
export function takenNames(source: ReadonlyMap<string, SourceFile>): Map<string, Set<string>> {
  const taken = new Map<string, Set<string>>()
  for (const [place, file] of source) {
    const whole = [...file.text.matchAll(WHOLE)].map(([, target = '']) => ({
      target,
      names: [ALL],
    }))
    for (const { target, names } of [...file.statements.flatMap(takenBy), ...whole]) {
      if (!target.startsWith('.')) continue
      const at = path.join(path.dirname(place), target)
      const known = taken.get(at) ?? new Set()
      for (const name of names) known.add(name)
      taken.set(at, known)
    }
  }
  return taken
}

const hasName = (statement: Statement): statement is Statement & { name: { text: string } } =>
  'name' in statement &&
  typeof statement.name === 'object' &&
  statement.name !== null &&
  'text' in statement.name

/** Names that a statement itself declares and exports. */
export function declaredNames(statement: Statement): string[] {
  if (!isExported(statement)) return []
  if (isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) =>
      isIdentifier(name) ? [name.text] : [],
    )
  return hasName(statement) ? [statement.name.text] : []
}

/** Whether a statement declares a function or a constant. */
export const isValue = (statement: Statement): boolean =>
  isFunctionDeclaration(statement) || isVariableStatement(statement)
