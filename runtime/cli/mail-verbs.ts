/** Verbs for operators about mail. */
import { type Command, Option } from 'commander'
import { PERSONAL_LANGUAGES } from '../contract/models/personal-settings.ts'
import { askingHost, helped } from './terminal/options.ts'

/** Adds the verbs. */
export function addMailVerbs(program: Command): void {
  program.commandsGroup('Mail:')
  const mail = program.command('mail').description('manage the mail that the host sends to people')

  helped(askingHost(mail.command('show')), { examples: ['mail show'] })
    .description('show the mail server, waiting mail, and refused mail')
    .action(async (flags) => (await import('./operator/mail.ts')).show(flags))

  helped(askingHost(mail.command('test')), {
    notes: 'There is no --dry-run: the only effect is one mail, which is marked as a test.',
    examples: ['mail test ada@acme.example'],
  })
    .argument('<email>', 'recipient of the mail')
    .addOption(
      new Option('--language <language>', 'language of the mail')
        .choices(PERSONAL_LANGUAGES)
        .default('en'),
    )
    .description('send one mail now, and report the reply of the server')
    .action(async (email, flags) =>
      (await import('./operator/mail.ts')).askForTestMail(email, flags),
    )
}
