/** Verbs for operators about personal data. */
import type { Command } from 'commander'
import { namedArgument } from './terminal/named-arguments.ts'
import { askingHost, helped } from './terminal/options.ts'

/** Adds the verbs. */
export function addPersonVerbs(program: Command): void {
  program.commandsGroup('Personal data:')
  const person = program.command('person').description('all data about a person')

  helped(askingHost(person.command('export')), {
    notes: 'The export is recorded in the activity log.',
    examples: ['person export ada@acme.example > ada.json'],
  })
    .addArgument(namedArgument('user', '<email>', 'e-mail address of the person'))
    .description('print all data about a person, as JSON')
    .action(async (email, flags) => (await import('./operator/person.ts')).exported(email, flags))

  helped(askingHost(person.command('evidence')), {
    notes: `Based on syncs, requests and policies. keyway review verify verifies it. With --offboarding, it is about that offboarding.`,
    examples: [
      'person evidence ada@acme.example --as-of 2027-03-01',
      'person evidence ada@acme.example --page access.html',
      'person evidence --offboarding 7c1d...',
    ],
  })
    .addArgument(namedArgument('user', '[email]', 'e-mail address of the person'))
    .option('--as-of <moment>', 'access at this time, such as 2027-03-01T12:00:00Z; default: now')
    .option('--offboarding <id>', 'about this offboarding instead of a person’s access')
    .option('--out <file>', 'file to write; default: keyway-access-ID.jsonl here')
    .option('--page <file>', 'also write its human-readable page')
    .option('--force', 'replace existing files')
    .option('--dry-run', 'only report which file would be written, and about what')
    .description('write signed evidence of a person’s access, or of an offboarding, to a file')
    .action(async (email, flags) => (await import('./evidence.ts')).personEvidence(email, flags))

  helped(askingHost(person.command('erase')), {
    notes: `It first shows what would be erased, and what is kept and why, and asks for confirmation; without a terminal it needs
--yes. It cannot be undone. A person who still has access is refused, with the steps to do first.`,
    examples: ['person erase ada@acme.example --dry-run', 'person erase ada@acme.example --yes'],
  })
    .addArgument(namedArgument('user', '<email>', 'e-mail address of the person'))
    .option('--yes', 'do not ask')
    .option('--dry-run', 'only report what would be erased, and what is kept')
    .description('erase a person who holds no access; the activity log still verifies')
    .action(async (email, flags) => (await import('./operator/person.ts')).erase(email, flags))
}
