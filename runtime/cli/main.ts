/** The `keyway` command: one file per verb, all listed here; a verb loads what it needs and no other's. */
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { ConfigError } from '../config.ts'
import { PEOPLE_COLUMNS } from '../contract/people-file.ts'
import { visible } from '../contract/visible.ts'
import { addOperatorVerbs } from './verbs.ts'

/** Exit code of what was typed wrongly; what was refused, or failed, is 1. */
const EXIT_USAGE = 2

const program = new Command('keyway')
  .description('A connector runtime for identity and access management')
  .showHelpAfterError('(see keyway --help)')
  .exitOverride()

program
  .command('start')
  .description('start the server with all connectors')
  .option(
    '--sample',
    'also start a sample SCIM directory with 250 people on loopback, and make a sample company',
  )
  .option('--sample-port <port>', 'port of the sample directory', parsePort, 8090)
  .addHelpText(
    'after',
    '\nSettings come from the environment; see the table in the README.\n\nExample:\n  PORT=9000 keyway start --sample',
  )
  .action(async (options) => (await import('./start.ts')).start(options))

program
  .command('new')
  .argument('<id>', 'id of the connector, such as acme')
  .option('--dir <directory>', 'where to make the folder', 'plugins')
  .description('make a new connector folder from the template')
  .addHelpText('after', '\nExample:\n  keyway new acme')
  .action(async (id, options) => (await import('./new.ts')).newConnector(id, options))

program
  .command('check')
  .argument('<directories...>', 'connector folders')
  .option('--json', 'print the findings as JSON')
  .description('check connectors: manifest, code, cases in the real sandbox, conformance')
  .addHelpText(
    'after',
    '\nExits with 1 when a check fails.\n\nExample:\n  keyway check plugins/acme',
  )
  .action(async (folders, options) => (await import('./check.ts')).check(folders, options))

program
  .command('pack')
  .argument('<directory>', 'connector folder')
  .option('--out <file>', 'file to write; default: <id>-<version>.tgz')
  .option('--json', 'print what was made as JSON')
  .description('check a connector and make one file of it, the same for the same content')
  .addHelpText(
    'after',
    '\nExits with 1 when the check fails.\n\nExample:\n  keyway pack plugins/acme',
  )
  .action(async (folder, options) => (await import('./pack.ts')).pack(folder, options))

program
  .command('keygen')
  .argument('<file>', 'where to keep the private key; the public one goes to <file>.pub')
  .description('make a key to sign packages with (Ed25519)')
  .addHelpText('after', '\nExample:\n  keyway keygen acme.key')
  .action(async (file) => (await import('./sign.ts')).keygen(file))

program
  .command('sign')
  .argument('<package>', 'file that `keyway pack` wrote')
  .requiredOption('--key <file>', 'private key of `keyway keygen`')
  .description('sign a package: writes <package>.sig')
  .addHelpText('after', '\nExample:\n  keyway sign acme-1.0.0.tgz --key acme.key')
  .action(async (file, options) => (await import('./sign.ts')).sign(file, options))

program
  .command('dev')
  .argument('<directory>', 'connector folder, anywhere on disk')
  .description(
    'run a host with one connector that reloads at every change, and show each call and request',
  )
  .addHelpText(
    'after',
    '\nListens on port 8081 unless PORT is set; the other settings are those of the README.\n\nExample:\n  keyway dev ./acme',
  )
  .action(async (folder) => (await import('./dev.ts')).dev(folder))

program
  .command('users')
  .description('the people of the running host')
  .command('import')
  .argument('<file>', 'CSV file, UTF-8; its first line names the columns')
  .option('--dry-run', 'only show what would change')
  .option('--url <url>', 'address of the host; default: HOST and PORT')
  .option('--json', 'print the difference as JSON')
  .description('add and change people from a CSV file: all of it, or nothing')
  .addHelpText('after', `\n${importHelp()}`)
  .action(async (file, options) => (await import('./users.ts')).importUsers(file, options))

program
  .command('login-link')
  .option('--email <address>', 'whom it lets in', 'admin@localhost')
  .option('--url <address>', 'where the host is reached; default: from HOST and PORT')
  .description('make an address that signs somebody in to the settings pages once')
  .addHelpText(
    'after',
    "\nAsks the running host, with KEYWAY_ADMIN_TOKEN or the operator's token of KEYWAY_DATA_DIR.\n\nExample:\n  keyway login-link --email ada@example.com",
  )
  .action(async (options) => (await import('./login-link.ts')).loginLink(options))

program
  .command('backup')
  .argument('<file>', 'file to write')
  .option('--force', 'replace the file if it is there')
  .description('copy the embedded database into one file, also while the host runs')
  .addHelpText(
    'after',
    '\nThe secret (KEYWAY_SECRET) is not in the file: keep it elsewhere.\n\nExample:\n  keyway backup /backups/keyway-monday.tar.gz',
  )
  .action(async (file, options) => (await import('./backup.ts')).backup(file, options))

program
  .command('restore')
  .argument('<file>', 'file that `keyway backup` wrote')
  .option('--force', 'move a database that is there aside, and keep it')
  .description('make the embedded database from a backup; the host must not run')
  .addHelpText(
    'after',
    '\nNeeds the secret that the backup was made with.\n\nExample:\n  KEYWAY_DATA_DIR=./data keyway restore /backups/keyway-monday.tar.gz',
  )
  .action(async (file, options) => (await import('./restore.ts')).restore(file, options))

program
  .command('audit')
  .description('look after the activity log')
  .command('verify')
  .option('--head <hash>', 'also say whether the log has this hash, noted from an earlier run')
  .description('say whether the activity log is what was written, and the first row that is not')
  .addHelpText(
    'after',
    '\nExits with 1 when a row does not fit. Works on the embedded database and on DATABASE_URL.\n\nExample:\n  keyway audit verify',
  )
  .action(async (options) => (await import('./audit.ts')).auditVerify(options))

program
  .command('release')
  .argument('<id>', 'id of the connector')
  .option('--url <address>', 'address of the host; default: HOST and PORT')
  .description('let a connector take calls again whose worker process kept dying')
  .addHelpText('after', '\nExample:\n  keyway release acme')
  .action(async (id, options) => (await import('./release.ts')).release(id, options))

program
  .command('verify')
  .option('--family <name>', 'only one kind of attack, such as memory')
  .option('--only <attack>', 'only one attack, such as loop-in-handler')
  .option('--json', 'print the report as JSON')
  .description('attack a host on this machine with hostile connectors, and say what each could do')
  .addHelpText(
    'after',
    '\nTakes some minutes, a free port of loopback and a temporary folder; nothing that runs here is touched.\nExits with 1 when an attack is not contained.\n\nExample:\n  keyway verify --family time',
  )
  .action(async (options) => (await import('./verify.ts')).verify(options))

addOperatorVerbs(program)

try {
  await program.parseAsync()
} catch (error) {
  // Commander has said what is wrong with the command line itself, or shown the help.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : EXIT_USAGE)
  if (!(error instanceof ConfigError)) throw error
  // What a person set is told in words; what was started meanwhile ends with this process.
  console.error(visible(error.message))
  process.exit(1)
}

function parsePort(text: string): number {
  if (/^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new InvalidArgumentError('Write a number from 0 to 65535.')
}

function importHelp(): string {
  const columns = Object.entries(PEOPLE_COLUMNS).map(
    ([name, meaning]) => `  ${name.padEnd(15)}${meaning}`,
  )
  return `Columns; any other one is a custom attribute:
${columns.join('\n')}

A column that is not there leaves things as they are, an empty cell empties them. Nobody is removed
or suspended for not being in the file.

Example:
  keyway users import people.csv --dry-run`
}
