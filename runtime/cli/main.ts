/** The `keyway` command: one file per verb, all listed here. */
import { Command, InvalidArgumentError } from 'commander'
import { ConfigError } from '../config.ts'
import { check } from './check.ts'
import { dev } from './dev.ts'
import { newConnector } from './new.ts'
import { start } from './start.ts'
import { verify } from './verify.ts'

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
  .command('verify')
  .option('--family <name>', 'only one kind of attack, such as memory')
  .option('--only <attack>', 'only one attack, such as loop-in-handler')
  .option('--json', 'print the report as JSON')
  .description('attack a host on this machine with hostile connectors, and say what each could do')
  .addHelpText(
    'after',
    '\nTakes some minutes, a free port of loopback and a temporary folder; nothing that runs here is touched.\nExits with 1 when an attack is not contained.\n\nExample:\n  keyway verify --family time',
  )
  .action(verify)

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
