/** Verbs for operators about mail. */
import { type Command, Option } from 'commander'
import { PERSONAL_LANGUAGES } from '../contract/models/personal-settings.ts'
import { askingHost, helped } from './terminal/options.ts'

/** Adds the verbs. */
export function addMailVerbs(program: Command): void {
  program.commandsGroup('Mail:')
  const mail = program.command('mail').description('the mail that the host sends to people')

  helped(askingHost(mail.command('show')), { examples: ['mail show'] })
    .description('say where mail goes, what waits, and what was refused')
    .action(async (flags) => (await import('./operator/mail.ts')).show(flags))

  helped(askingHost(mail.command('test')), {
    notes: 'There is no --dry-run: what it does is to send one mail, which says that it is a test.',
    examples: ['mail test ada@acme.example'],
  })
    .argument('<email>', 'where the mail goes')
    .addOption(
      new Option('--language <language>', 'of the mail').choices(PERSONAL_LANGUAGES).default('en'),
    )
    .description('send one mail now, and say how the server answered')
    .action(async (email, flags) =>
      (await import('./operator/mail.ts')).askForTestMail(email, flags),
    )
}
