/** The page on `keyway/sdk`: every export with its signature, description and examples. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type Exported, exportsOf } from './for-authors.ts'

/** Types made from tables. Their declarations would say less. */
const FROM_TABLES = [
  ...[
    'Auth',
    'CapabilityName',
    'ConnectorContext',
    'CredentialKind',
    'ErrorCode',
    'Handlers',
    'Input',
    'Output',
  ],
]

/** File with the declarations that the examples use. It compiles. */
const GRANTED = path.join(import.meta.dirname, '../test/fixtures/readme/examples.ts')

export function sdkSection(): string {
  const shown = exportsOf('sdk/sdk.ts')
    .filter(({ name }) => !FROM_TABLES.includes(name))
    .sort((one, other) => Number(one.isType) - Number(other.isType))
  return [
    fenced(readFileSync(GRANTED, 'utf8').replace(/^export /gm, '')),
    ...shown.flatMap(entry),
  ].join('\n\n')
}

/**
 * Returns the section of an export.
 * @throws Error for a value without an example
 */
function entry({ name, isType, signature, text, examples }: Exported): string[] {
  if (!isType && examples.length === 0) throw new Error(`${name} has no example`)
  return [`### \`${name}\``, paragraphs(text), fenced(signature), ...examples.map(fenced)]
}

const fenced = (text: string): string => `\`\`\`ts\n${text.trim()}\n\`\`\``

/** Joins lines to paragraphs, and turns `@throws` into a sentence. */
const paragraphs = (text: string): string =>
  text
    .replace(/^@throws /gm, '\nThrows ')
    .split(/\n\s*\n/)
    .map((one) => one.replace(/\s*\n\s*/g, ' ').trim())
    .join('\n\n')
