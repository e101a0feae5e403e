/** Verbs for operators about personal data. */
import type { Command } from 'commander'
import { namedArgument } from './terminal/named.ts'
import { askingHost, helped } from './terminal/options.ts'

/** Adds the verbs. */
export function addPersonVerbs(program: Command): void {
  program.commandsGroup('Personal data:')
  const person = program.command('person').description('all that is held of a person')

  helped(askingHost(person.command('export')), {
    notes: 'That it was exported is recorded in the activity log.',
    examples: ['person export ada@acme.example > ada.json'],
  })
    .addArgument(namedArgument('user', '<email>', 'e-mail address of the person'))
    .description('print all that is held of a person, as JSON')
    .action(async (email, flags) => (await import('./operator/person.ts')).exported(email, flags))

  helped(askingHost(person.command('evidence')), {
    notes: `As the syncs, requests and policies have it. keyway review verify verifies it. With --offboarding it is of that offboarding.`,
    examples: [
      'person evidence ada@acme.example --as-of 2027-03-01',
      'person evidence ada@acme.example --page access.html',
      'person evidence --offboarding 7c1d...',
    ],
  })
    .addArgument(namedArgument('user', '[email]', 'e-mail address of the person'))
    .option('--as-of <moment>', 'what was held then, such as 2027-03-01T12:00:00Z; default: now')
    .option('--offboarding <id>', 'of this offboarding, in place of a person’s access')
    .option('--out <file>', 'file to write; default: keyway-access-ID.jsonl here')
    .option('--page <file>', 'also write the page that it has for people to read')
    .option('--force', 'replace files that are there')
    .option('--dry-run', 'only say which file would be written, of what')
    .description('write signed evidence of what a person held, or of an offboarding, into a file')
    .action(async (email, flags) => (await import('./evidence.ts')).personEvidence(email, flags))

  helped(askingHost(person.command('erase')), {
    notes: `It says first what would be erased, and what stays and why, and asks; elsewhere than on a terminal it waits for --yes.
It cannot be taken back. Who still holds access is refused, with what to do.`,
    examples: ['person erase ada@acme.example --dry-run', 'person erase ada@acme.example --yes'],
  })
    .addArgument(namedArgument('user', '<email>', 'e-mail address of the person'))
    .option('--yes', 'do not ask')
    .option('--dry-run', 'only say what would be erased, and what stays')
    .description('erase a person who holds no access; the activity log still verifies')
    .action(async (email, flags) => (await import('./operator/person.ts')).erase(email, flags))
}
