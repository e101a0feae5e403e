/** The whole command line as a value, which describes it without running any of it. */
import { Command } from 'commander'
import { VERSION } from '../version.ts'
import { addAuthorVerbs } from './author-verbs.ts'
import { addHostVerbs } from './host-verbs.ts'
import { addInstallVerbs } from './install-verbs.ts'
import { addMailVerbs } from './mail-verbs.ts'
import { addOperatorVerbs } from './operator-verbs.ts'
import { addPersonVerbs } from './person-verbs.ts'
import { addReviewVerbs } from './review-verbs.ts'
import { EXIT, HOST_NOTES } from './terminal/options.ts'
import { addWebhookVerbs } from './webhook-verbs.ts'

/** Creates the program. A verb loads its code only when it runs. */
export function createProgram(): Command {
  const program = new Command('keyway')
    .description('A connector runtime for identity and access management')
    .version(VERSION, '-V, --version', 'print the version')
    .showHelpAfterError('(see keyway --help)')
    .exitOverride()
    // Options after a verb belong to the verb: the id of a key may begin with -V.
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `\n${HOST_NOTES}\n\nExit codes: ${EXIT.done} done, ${EXIT.refused} refused or failed, ${EXIT.usage} wrong usage, ${EXIT.waits} waits for a grant.\nkeyway help <command> shows the options of a command, with an example.`,
    )
  addHostVerbs(program)
  addAuthorVerbs(program)
  addInstallVerbs(program)
  addOperatorVerbs(program)
  addWebhookVerbs(program)
  addReviewVerbs(program)
  addMailVerbs(program)
  addPersonVerbs(program)
  for (const { name, command } of verbsOf(program))
    command.showHelpAfterError(`(see keyway ${name} --help)`)
  return program
}

/** A verb with its full name, such as `users import`. */
type Verb = { name: string; command: Command }

/** Returns every verb that can be run. Those that only group others are left out. */
export const verbsOf = (command: Command, prefix = ''): Verb[] =>
  command.commands.flatMap((one) => {
    const name = `${prefix}${one.name()}`
    return one.commands.length > 0 ? verbsOf(one, `${name} `) : [{ name, command: one }]
  })
