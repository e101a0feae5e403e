/** Verbs for connector authors: from an empty folder to a signed package. */
import { type Command, Option } from 'commander'
import { keysOf } from '../contract/schema/keys.ts'
import { TEMPLATES } from './templates.ts'
import { answering, collect, helped } from './terminal/options.ts'
import { parseWholeNumber } from './terminal/whole-number.ts'

/** Adds the verbs. */
export function addAuthorVerbs(program: Command): void {
  program.commandsGroup('Write a connector:')
  helped(answering(program.command('new')), {
    examples: ['new acme', 'new hr --template sql-tables', 'new desk --from scim'],
  })
    .argument('<id>', 'id of the connector, such as acme')
    .option('--dir <directory>', 'where to create the folder', 'plugins')
    .addOption(
      new Option(
        '--template <kind>',
        'kind of the system: HTTP, LDAP, SQL with roles, or SQL with tables of people',
      )
        .choices(keysOf(TEMPLATES))
        .conflicts('from'),
    )
    .option('--from <connector>', 'start from a copy of a built-in connector, such as scim')
    .option('--dry-run', 'only list the files that would be created')
    .description('create a connector folder from a template')
    .action(async (id, options) => (await import('./new.ts')).newConnector(id, options))

  against(
    helped(answering(program.command('check')), {
      notes:
        'Exits with 1 if a check fails. It changes no file except connector.types.ts, if a source imports that.',
      examples: [
        'check plugins/acme',
        'check plugins/acme --against acme-1.0.0.tgz',
        'check acme-1.1.0.tgz',
      ],
    }),
  )
    .argument('<connectors...>', 'connector folders, or packages that keyway pack wrote')
    .option(
      '--update',
      'update cases to the current responses, after you have looked at the differences',
    )
    .option('--yes', 'with --update: do not ask')
    .description(
      'check connectors: manifest, code, cases in the real sandbox, conformance, secrets left behind',
    )
    .action(async (paths, options) => (await import('./check.ts')).check(paths, options))

  helped(program.command('dev'), {
    notes: `Listens on port 8081 unless PORT is set; the other settings are those of the start command. It runs
until Ctrl-C, so there is neither --json nor --dry-run.`,
    examples: ['dev ./acme', 'dev ./acme --record'],
  })
    .argument('<directory>', 'connector folder, anywhere on disk')
    .option('--record', 'record each call as a case in connector.cases.json, without its secrets')
    .description(
      'run a host with one connector, reload and check it at every change, and show each call and request',
    )
    .action(async (folder, flags) => (await import('./dev.ts')).dev(folder, flags))

  against(
    helped(answering(program.command('pack')), {
      notes: 'Exits with 1 when the check fails.',
      examples: ['pack plugins/acme', 'pack plugins/acme --against acme-1.0.0.tgz'],
    }),
  )
    .argument('<directory>', 'connector folder')
    .option('--out <file>', 'file to write; default: ID-VERSION.tgz')
    .option('--dry-run', 'check it and report what would be written')
    .description('check a connector and write it to one file; the same content gives the same file')
    .action(async (folder, options) => (await import('./pack.ts')).pack(folder, options))

  helped(answering(program.command('keygen')), { examples: ['keygen acme.key'] })
    .argument('<file>', 'file for the private key; the public key is written to FILE.pub')
    .option('--dry-run', 'only list the files that would be written')
    .description('create a key that signs packages (Ed25519)')
    .action(async (file, options) => (await import('./sign.ts')).keygen(file, options))

  helped(answering(program.command('sign')), {
    examples: ['sign acme-1.0.0.tgz --key acme.key'],
  })
    .argument('<package>', 'file that keyway pack wrote')
    .requiredOption('--key <file>', 'private key of keyway keygen')
    .option('--dry-run', 'only report what would be signed, and with which key')
    .description('sign a package: writes PACKAGE.sig')
    .action(async (file, options) => (await import('./sign.ts')).sign(file, options))

  helped(answering(program.command('publish')), {
    notes: `The folder is a registry: index.json with its signature, packages and logos. Serve it by any web server. Without a
package the index is only signed again, for --days from now. An index signed by another key is refused.

A withdrawn version stays in the folder, with the reason. Hosts no longer install it; where it is installed, it keeps
serving, and keyway outdated says that it is withdrawn.`,
    examples: [
      'publish ./registry acme-1.0.0.tgz --key acme.key',
      'publish ./registry --key acme.key --days 30',
      'publish ./registry --key acme.key --mirror https://mirror.acme.example/registry',
      "publish ./registry acme-1.0.1.tgz --key acme.key --withdraw acme@1.0.0 --reason 'it logs tokens'",
      'publish ./registry --key acme.key --restore acme@1.0.0',
    ],
  })
    .argument('<directory>', 'folder of the registry; created if it is missing')
    .argument('[packages...]', 'files that keyway pack wrote, with their signatures next to them')
    .requiredOption('--key <file>', 'private key of keyway keygen, which signs the index')
    .option(
      '--formerly <file>',
      'public key that signed the previous index; default: that of --key',
    )
    .option('--days <days>', 'how long the index is valid', parseWholeNumber, 90)
    .option(
      '--mirror <address>',
      'https:// address of a copy of the folder; may be repeated; none: remove all; default: those of the previous index',
      collect,
    )
    .option(
      '--withdraw <version>',
      'version that should no longer be installed, such as acme@1.0.0; may be repeated',
      collect,
    )
    .option('--reason <text>', 'why it is withdrawn; visible to all users of the registry')
    .option('--restore <version>', 'withdrawn version to offer again; may be repeated', collect)
    .option('--dry-run', 'only report what would be written')
    .description(
      'add packages to a registry that is a folder of files, withdraw versions, and sign its index',
    )
    .action(async (directory, packages, options) =>
      (await import('./publish.ts')).publish(directory, packages, options),
    )
}

const against = (command: Command): Command =>
  command
    .option('--against <package>', 'package of the previous version: also report breaking changes')
    .option('--allow-breaking', 'do not fail for breaking changes')
