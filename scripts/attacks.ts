/**
 * The page of attacks, generated from the table of `runtime/verify/attacks` and the comments of the corpus.
 */

import path from 'node:path'
import { DEADLINE_MS, FAMILIES, type Family } from '../runtime/verify/attacks/attack.ts'
import { ATTACKS } from '../runtime/verify/attacks/attacks.ts'
import { attackSource, attackWords } from '../runtime/verify/corpus.ts'

const CORPUS = path.join(import.meta.dirname, '..', 'test', 'hostile')

/** Returns all attacks, with a table for each family. */
export async function attacksPage(): Promise<string> {
  const sections = await Promise.all((Object.keys(ATTACKS) as Family[]).map(section))
  const count = Object.values(ATTACKS).flat().length
  return `<!-- Written by scripts/attacks.ts from runtime/verify/attacks and the files next to this one; do not edit. -->

# Hostile connectors

${count} hostile connectors attack the host, each other, their tenants and the operator. \`keyway verify\` runs
them against a host on your own machine; \`npm test\` runs a selection (marked *). Promises are those of
[the design](../../runtime/docs/design/architecture.md), section 1. During every attack, other calls succeed; the
caller has an answer 100 ms after its deadline (${DEADLINE_MS} ms unless stated otherwise); the same connector
answers again within a second; two seconds later it uses no processor time and the host has not grown; and no
answer shows a path, the environment, a secret or another tenant.

${sections.join('\n')}`
}

async function section(family: Family): Promise<string> {
  const rows = await Promise.all(
    ATTACKS[family].map(async (attack) => {
      const { name, shared, promise, ends, workerMayDie, quick, action } = attack
      const link = path.relative(CORPUS, attackSource(family, attack))
      const [tries = '', must = ''] = (await attackWords(family, attack)).split(
        / Promise \d\. Must happen: /,
      )
      const sent = action === undefined ? tries : `Action: ${action}.`
      const what = shared ? `${sent} \`${shared.parameter}\`` : sent
      const endings = ends.map((ending) => `\`${ending}\``).join(', ')
      return `| [${name}](${link})${quick ? '*' : ''} | ${cell(what)} | ${promise} | ${cell(must)} | ${endings} | ${workerMayDie ? 'may end' : 'lives'} |`
    }),
  )
  return `## ${family}: ${FAMILIES[family]}

| attack | what it tries | promise | what must happen | may end with | its worker |
| --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`
}

const cell = (text: string): string => text.replaceAll('|', '\\|')
