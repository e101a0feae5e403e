/** The `keyway` command: one file per verb, all listed here. */
import { Command, InvalidArgumentError } from 'commander'
import { ConfigError } from '../config.ts'
import { auditVerify } from './audit.ts'
import { backup } from './backup.ts'
import { check } from './check.ts'
import { dev } from './dev.ts'
import { newConnector } from './new.ts'
import { restore } from './restore.ts'
import { start } from './start.ts'

const program = new Command('keyway')
  .description('A connector runtime for identity and access management')
  .showHelpAfterError('(see keyway --help)')

program
  .command('start')
  .description('start the server with all connectors')
  .option('--sample', 'also start a sample SCIM directory with 250 people on loopback')
  .option('--sample-port <port>', 'port of the sample directory', parsePort, 8090)
  .addHelpText(
    'after',
    '\nSettings come from the environment; see the table in the README.\n\nExample:\n  PORT=9000 keyway start --sample',
  )
  .action(start)

program
  .command('new')
  .argument('<id>', 'id of the connector, such as acme')
  .option('--dir <directory>', 'where to make the folder', 'plugins')
  .description('make a new connector folder from the template')
  .addHelpText('after', '\nExample:\n  keyway new acme')
  .action(newConnector)

program
  .command('check')
  .argument('<directories...>', 'connector folders')
  .option('--json', 'print the findings as JSON')
  .description('check connectors: manifest, code, cases in the real sandbox, conformance')
  .addHelpText(
    'after',
    '\nExits with 1 when a check fails.\n\nExample:\n  keyway check plugins/acme',
  )
  .action(check)

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
  .action(dev)

program
  .command('backup')
  .argument('<file>', 'file to write')
  .option('--force', 'replace the file if it is there')
  .description('copy the embedded database into one file, also while the host runs')
  .addHelpText(
    'after',
    '\nThe secret (KEYWAY_SECRET) is not in the file: keep it elsewhere.\n\nExample:\n  keyway backup /backups/keyway-monday.tar.gz',
  )
  .action(backup)

program
  .command('restore')
  .argument('<file>', 'file that `keyway backup` wrote')
  .option('--force', 'move a database that is there aside, and keep it')
  .description('make the embedded database from a backup; the host must not run')
  .addHelpText(
    'after',
    '\nNeeds the secret that the backup was made with.\n\nExample:\n  KEYWAY_DATA_DIR=./data keyway restore /backups/keyway-monday.tar.gz',
  )
  .action(restore)

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
  .action(auditVerify)

try {
  await program.parseAsync()
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  // What a person set is told in words; what was started meanwhile ends with this process.
  console.error(error.message)
  process.exit(1)
}

function parsePort(text: string): number {
  if (/^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new InvalidArgumentError('Write a number from 0 to 65535.')
}
