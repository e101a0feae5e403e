/** Verbs for running a host: the server itself, its people and its records, and attacks on it. */
import { type Command, InvalidArgumentError } from 'commander'
import { readConfig } from '../config/config.ts'
import { PEOPLE_COLUMNS } from '../contract/models/people-file.ts'
import { namedOption } from './terminal/named-arguments.ts'
import { answering, askingHost, helped } from './terminal/options.ts'

/** Adds the verbs. */
export function addHostVerbs(program: Command): void {
  program.commandsGroup('Run a host:')
  addStart(program)
  addVerify(program)
  addBackup(program)
  addRestore(program)
  addDoctor(program)

  const audit = program.command('audit').description('check the activity log')
  helped(answering(audit.command('verify')), {
    notes: 'Works on the embedded database and on DATABASE_URL.',
    examples: ['audit verify'],
  })
    .option(
      '--head <hash>',
      'also report whether the log contains this hash, noted from an earlier run',
    )
    .description('check that the activity log is unchanged, and report the first row that is not')
    .action(async (options) => (await import('./audit.ts')).auditVerify(options))

  program.commandsGroup('People:')
  const users = program.command('users').description('the people of the running host')
  helped(askingHost(users.command('import')), {
    notes: importNotes(),
    examples: ['users import people.csv --dry-run'],
  })
    .argument('<file>', 'CSV file, UTF-8; its first line names the columns')
    .option('--dry-run', 'only show what would change')
    .description('add and change people from a CSV file: the whole file or nothing')
    .action(async (file, options) => (await import('./users.ts')).importUsers(file, options))

  helped(askingHost(program.command('login-link')), {
    notes:
      'There is no --dry-run: an address that is not opened changes nothing, and soon expires.',
    examples: ['login-link --email ada@example.com'],
  })
    .addOption(
      namedOption('user', '--email <address>', 'the user to sign in').default('admin@localhost'),
    )
    .description('create an address that signs a user in to the pages once')
    .action(async (options) => (await import('./login-link.ts')).loginLink(options))
}

function addStart(program: Command): void {
  helped(program.command('start'), {
    notes: `Settings come from the environment; /docs/reference/settings of a running host lists them. It logs JSON lines to standard output and
serves until SIGTERM or Ctrl-C, so there is neither --json nor --dry-run.`,
    examples: ['start --sample'],
  })
    .option(
      '--sample',
      'also start a sample SCIM directory with 250 people on loopback, and create a sample company',
    )
    .option(
      '--new-database',
      'start with an empty database if the one of the data directory is missing',
    )
    .option('--sample-port <port>', 'port of the sample directory', parsePort, 8090)
    .description('start the server with all connectors')
    .action(async (options) => {
      // Errors in settings are reported before the host is loaded.
      const config = readConfig(process.env)
      const begun = await (await import('./begin.ts')).begin(config, options)
      await (await import('./start.ts')).start(config, options, begun)
    })
}

function addVerify(program: Command): void {
  helped(answering(program.command('verify')), {
    notes: `Takes some minutes, a free loopback port and a temporary folder; it does not touch other processes.
Exits with 1 if an attack is not contained.`,
    examples: ['verify --family time'],
  })
    .option('--family <name>', 'run only one kind of attack, such as memory')
    .option('--only <attack>', 'run only one attack, such as loop-in-handler')
    .description(
      'attack a host on this machine with hostile connectors, and report what each could do',
    )
    .action(async (options) => (await import('./verify.ts')).verify(options))
}

function addBackup(program: Command): void {
  helped(answering(program.command('backup')), {
    notes: 'The secret (KEYWAY_SECRET) is not in the file: keep it elsewhere.',
    examples: ['backup /backups/keyway-monday.tar.gz'],
  })
    .argument('<file>', 'file to write')
    .option('--force', 'replace the file if it exists')
    .option('--dry-run', 'only report whether it could be written, and which secret it would need')
    .description('copy the embedded database to one file, even while the host runs')
    .action(async (file, options) => (await import('./backup.ts')).backup(file, options))
}

function addRestore(program: Command): void {
  helped(answering(program.command('restore')), {
    notes: 'Needs the secret that the backup was made with.',
    examples: [
      'restore /backups/keyway-monday.tar.gz --dry-run',
      'restore /backups/keyway-monday.tar.gz',
    ],
  })
    .argument('<file>', 'file that keyway backup wrote')
    .option('--force', 'move an existing database aside, and keep it')
    .option('--dry-run', 'only report whether the backup is complete and fits here')
    .description('restore the embedded database from a backup; the host must not run')
    .action(async (file, options) => (await import('./restore.ts')).restore(file, options))
}

function addDoctor(program: Command): void {
  helped(askingHost(program.command('doctor')), {
    notes: `Asks the host; without a running host it checks only this machine's disk. Exits with 1 if something needs action.
Hosts run by root keep their database outside the data directory. --remove-clusters removes such databases if
their data directory is gone, after a question or with --yes, and never one that may be in use.`,
    examples: ['doctor', 'doctor --json', 'doctor --remove-clusters --dry-run'],
  })
    .option(
      '--remove-clusters [places...]',
      'remove left-over databases on this machine: all, or those with the given folder names',
    )
    .option('--yes', 'with --remove-clusters: do not ask')
    .option('--dry-run', 'with --remove-clusters: only list them')
    .description('report what grows, what is left over, and what to do')
    .action(async (options) => (await import('./doctor.ts')).doctor(options))
}

function parsePort(text: string): number {
  if (/^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new InvalidArgumentError('Must be a number from 0 to 65535.')
}

function importNotes(): string {
  const columns = Object.entries(PEOPLE_COLUMNS).map(
    ([name, meaning]) => `  ${name.padEnd(15)}${meaning}`,
  )
  return `Columns; any other one is a custom attribute:
${columns.join('\n')}

A missing column changes nothing; an empty cell clears the value. Nobody is removed or suspended
for not being in the file.`
}
